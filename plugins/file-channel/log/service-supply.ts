import type { Event, Putting, ServiceHolding } from "deneb/sdk";
import { type QueuedEvent, type ServiceShares, serviceKey } from "deneb/sdk/channel";
import type { WrittenGroup } from "./appender.js";
import type { Backlog } from "./backlog.js";
import { readChosen } from "./chosen-records.js";
import { rangesOf } from "./done-ranges.js";
import type { EventLog } from "./event-log.js";
import { WINDOW_BYTES } from "./log-supply.js";
import { HEADER_BYTES, type RecordText, sizeOf } from "./records.js";
import { eventOf, serviceOfText } from "./stored-event.js";
import type { Supply } from "./supply.js";

/**
 * A position, and the checkpoint, name the stretches of events that are done before older ones. They hold 500; takes that
 * would bring more than this give back their newest events, so that no stretch is left out of a position.
 */
const MOST_STRETCHES = 300;
/** With fewer left the oldest events come first: that joins stretches. */
const FEW_STRETCHES = 16;

/** Hands out the events of the services in turn, or all in order, from an index of the log; counts them by service. */
export class ServiceSupply implements Supply {
  readonly #shares: ServiceShares;
  readonly #log: EventLog;
  readonly #fair: boolean;
  readonly #backlog: Backlog;
  /** Events that wait and are in memory, by sequence number; what came back must be the same object again. */
  readonly #inMemory = new Map<number, Event>();
  #cachedBytes = 0;
  /** Events on disk that are not in memory. */
  #reads = 0;
  /** Stretches of what is handed out. */
  #stretches = 0;

  constructor(log: EventLog, shares: ServiceShares, backlog: Backlog, fair: boolean) {
    this.#log = log;
    this.#shares = shares;
    this.#fair = fair;
    this.#backlog = backlog;
  }

  claim(events: readonly Event[], texts: readonly RecordText[] | undefined, putting: Putting | undefined): () => void {
    const claim = this.#shares.claim(events, (at) => sizeAt(texts, at), putting);
    return () => this.#shares.giveBack(claim);
  }

  largestServices(most: number): readonly ServiceHolding[] {
    return this.#shares.largest(most);
  }

  /** Reads what waits once, to know its services. */
  async open(): Promise<void> {
    while (this.#log.reader.unread) {
      const { records } = await this.#log.scan();
      for (const { record, end } of records) {
        const { sequence, text } = record;
        const bytes = HEADER_BYTES + text.length;
        const service = serviceOfText(text);
        this.#shares.add(service, { events: 1, bytes });
        this.#backlog.add(service, { sequence, bytes, offset: end - bytes });
      }
    }
  }

  get unread(): boolean {
    return this.#backlog.waiting > 0 && this.#inMemory.size < this.#backlog.waiting;
  }

  get isBehind(): boolean {
    return this.#reads > 0 || this.unread;
  }

  shift(max: number): readonly QueuedEvent[] {
    if (this.#backlog.waiting === 0 || this.unread) return [];
    const chosen = this.#choose(max);
    return this.#handedOut(chosen, this.#withdrawn(chosen));
  }

  async read(max: number): Promise<readonly QueuedEvent[]> {
    const chosen = this.#choose(max);
    // At once: another take must not count them among those that wait in memory.
    const held = this.#withdrawn(chosen);
    const places = chosen.filter((sequence) => !held.has(sequence)).map((one) => this.#backlog.placeOf(one));
    this.#reads += 1;
    let found: ReadonlyMap<number, Event>;
    try {
      const texts = await readChosen(places, this.#log.segments);
      found = new Map([...texts].map(([sequence, text]) => [sequence, eventOf(text, this.#log.codecs)]));
    } catch (error) {
      for (const [sequence, event] of held) this.#keep(sequence, event);
      this.#backlog.restore(chosen);
      throw error;
    } finally {
      this.#reads -= 1;
    }
    const lost = places.filter(({ sequence }) => !found.has(sequence)).map(({ sequence }) => sequence);
    if (lost.length > 0) this.#lose(lost);
    return this.#handedOut(
      chosen.filter((sequence) => found.has(sequence) || held.has(sequence)),
      new Map([...found, ...held]),
    );
  }

  written({ events, segment, bytes, puts }: WrittenGroup): boolean {
    let offset = segment.end - bytes;
    const sizes = puts.flatMap(({ texts }) => texts.map(sizeOf));
    for (const [at, { sequence, event }] of events.entries()) {
      const size = sizes[at] ?? 0;
      this.#backlog.add(serviceKey(event), { sequence, bytes: size, offset });
      offset += size;
      if (this.#cachedBytes > WINDOW_BYTES) continue;
      this.#cachedBytes += size;
      this.#inMemory.set(sequence, event);
    }
    return true;
  }

  remember(events: readonly QueuedEvent[], texts: readonly RecordText[] | undefined): void {
    for (const [at, { sequence, event }] of events.entries()) {
      const bytes = sizeAt(texts, at);
      this.#backlog.add(serviceKey(event), { sequence, bytes, offset: 0 });
      this.#cachedBytes += bytes;
      this.#inMemory.set(sequence, event);
    }
  }

  release(taken: readonly QueuedEvent[]): void {
    this.#ended(taken);
    for (const { sequence } of taken) this.#backlog.finish(sequence);
  }

  restore(taken: readonly QueuedEvent[]): void {
    this.#ended(taken);
    const sequences = taken.map(({ sequence }) => sequence).sort(ascending);
    for (const { sequence, event } of taken) this.#keep(sequence, event);
    this.#backlog.restore(sequences);
  }

  async drop(): Promise<readonly number[]> {
    const finished = this.#backlog.finishDone(this.#log.state.done);
    for (const sequence of finished) this.#inMemory.delete(sequence);
    return finished;
  }

  async idle(): Promise<void> {}

  /** Ascending; those of the services in turn as far as a position can say so. */
  #choose(max: number): readonly number[] {
    const left = MOST_STRETCHES - this.#log.state.done.ranges.length - this.#stretches;
    if (!this.#fair || left < FEW_STRETCHES) return this.#backlog.oldest(max);
    const chosen = this.#backlog.inTurn(max).sort(ascending);
    const kept = firstStretches(chosen, left);
    if (kept < chosen.length) this.#backlog.restore(chosen.slice(kept));
    return chosen.slice(0, kept);
  }

  #keep(sequence: number, event: Event): void {
    this.#inMemory.set(sequence, event);
    this.#cachedBytes += this.#backlog.placeOf(sequence).bytes;
  }

  /** Those of the chosen ones that are in memory, which are there no more. */
  #withdrawn(chosen: readonly number[]): ReadonlyMap<number, Event> {
    const held = new Map<number, Event>();
    for (const sequence of chosen) {
      const event = this.#inMemory.get(sequence);
      if (event === undefined) continue;
      this.#inMemory.delete(sequence);
      this.#cachedBytes -= this.#backlog.placeOf(sequence).bytes;
      held.set(sequence, event);
    }
    return held;
  }

  #handedOut(chosen: readonly number[], found: ReadonlyMap<number, Event>): readonly QueuedEvent[] {
    const events = chosen.flatMap((sequence): HandedOut[] => {
      const event = found.get(sequence);
      return event === undefined ? [] : [{ sequence, event }];
    });
    const [first] = events;
    if (first === undefined) return events;
    const stretches = rangesOf(chosen).length;
    this.#stretches += stretches;
    first.stretches = stretches;
    return events;
  }

  #ended(taken: readonly HandedOut[]): void {
    for (const { stretches } of taken) if (stretches !== undefined) this.#stretches -= stretches;
  }

  #lose(sequences: readonly number[]): void {
    for (const sequence of sequences) this.#backlog.finish(sequence);
    this.#log.lose(rangesOf(sequences), this.#log.segments.fileOf(sequences[0] ?? 0) ?? "");
  }
}

/** The first event of a take says how many stretches that has. */
interface HandedOut extends QueuedEvent {
  stretches?: number;
}

/** How many of the numbers are in the first stretches. */
function firstStretches(sequences: readonly number[], stretches: number): number {
  let left = stretches;
  for (let at = 0; at < sequences.length; at += 1) {
    if (at > 0 && sequences[at] === (sequences[at - 1] ?? 0) + 1) continue;
    if (left === 0) return at;
    left -= 1;
  }
  return sequences.length;
}

/** Where there are no texts, events in memory alone count no bytes. */
function sizeAt(texts: readonly RecordText[] | undefined, at: number): number {
  const text = texts?.[at];
  return text === undefined ? 0 : sizeOf(text);
}

function ascending(one: number, other: number): number {
  return one - other;
}
