import { AgentError, type Event, type TextCodecs } from "deneb/sdk";
import type { Amount, QueuedEvent } from "deneb/sdk/channel";
import type { DiskState } from "./disk-state.js";
import { rangesOf } from "./done-ranges.js";
import { GroupCommitDelay } from "./group-commit-delay.js";
import { encodeGroup, HIGHEST_SEQUENCE, NUMBERS_OF_ONE_RUN, type PutTexts, recordText } from "./records.js";
import type { LogState } from "./restore.js";
import type { SegmentWriter } from "./segment-writer.js";
import type { Segment, SegmentList } from "./segments.js";
import { SingleFlight } from "./single-flight.js";
import { textsOf } from "./stored-event.js";

/** The events of one put, as values and as texts, and what it was let in with. */
export interface LogPut extends PutTexts {
  readonly events: readonly Event[];
  readonly amount: Amount;
  /** To be called when its events will never be in the channel. */
  giveBack(): void;
}

/** Called in the order of the events, as soon as they are on disk. */
export type Written = (group: WrittenGroup) => void;

/** Puts are on disk, or have failed and will never be. Called before their promise settles. */
export type Ended = (puts: readonly LogPut[], failed: boolean) => void;

/** The events of one write. */
export interface WrittenGroup {
  readonly events: readonly QueuedEvent[];
  /** The same events as they were put. */
  readonly puts: readonly PutTexts[];
  readonly segment: Segment;
  readonly bytes: number;
}

/** Events in memory alone are written without the texts that they were read from. */
const noCodecs: TextCodecs = new Map();

/** The checkpoint is written after this many numbers, also when no event was written to disk. */
const NUMBERS_BETWEEN_SAVES = NUMBERS_OF_ONE_RUN / 16;

interface AppenderParts {
  /** Name of the channel, for messages. */
  readonly channel: string;
  readonly state: LogState;
  readonly writer: SegmentWriter;
  readonly segments: SegmentList;
  readonly disk: DiskState;
  readonly written: Written;
  readonly ended: Ended;
  /** Writes the checkpoint. */
  saveDone(): Promise<void>;
}

/** Numbers events and writes them to the newest segment; puts that arrive at the same time share one write. */
export class Appender {
  readonly #parts: AppenderParts;
  readonly #delay = new GroupCommitDelay(() => this.#pending.length);
  readonly #writes = new SingleFlight(
    () => this.#appendPending(),
    () => this.#delay.elapsed(),
  );
  #pending: LogPut[] = [];
  #writing = 0;

  constructor(parts: AppenderParts) {
    this.#parts = parts;
  }

  /** Events that have their numbers and are not on disk yet. */
  get writing(): number {
    return this.#writing;
  }

  /** Resolves when the events are on disk: one promise for all puts of a write. */
  append(put: LogPut): Promise<void> {
    this.#pending.push(put);
    return this.#writes.run();
  }

  /**
   * Whether the events may get numbers without being written to disk: after an unclean end the numbers must continue above
   * all that were used.
   */
  hasNumbersFor(events: number): boolean {
    const { next, savedNext } = this.#parts.state;
    return next + events - savedNext < NUMBERS_OF_ONE_RUN / 2;
  }

  /** Gives events the next sequence numbers; throws code `CHANNEL_NUMBERS_USED` when none are left. */
  number(events: readonly Event[]): readonly QueuedEvent[] {
    return numbered([{ events }], this.#useNumbers(events.length));
  }

  /** Writes events that have their sequence numbers. Only when nothing else is being appended. */
  async insert(events: readonly QueuedEvent[]): Promise<void> {
    const { writer, segments } = this.#parts;
    for (const { from, to } of rangesOf(events.map(({ sequence }) => sequence))) {
      const run = events.filter(({ sequence }) => from <= sequence && sequence <= to).map(({ event }) => event);
      const bytes = encodeGroup([{ texts: textsOf(run, noCodecs) }], from);
      segments.add(await writer.write({ bytes, first: from, last: to }));
    }
  }

  /** Writes texts of events that have numbers elsewhere under new ones. Only when nothing else is being appended. */
  async rewrite(texts: readonly string[]): Promise<void> {
    const { state, writer, segments, channel, saveDone } = this.#parts;
    const range = { from: state.next, to: state.next + texts.length - 1 };
    if (range.to > HIGHEST_SEQUENCE) throw numbersUsedUp(channel);
    state.next = range.to + 1;
    try {
      const bytes = encodeGroup([{ texts: texts.map((text) => recordText(text)) }], range.from);
      const group = { bytes, first: range.from, last: range.to };
      segments.add(await writer.write(group));
    } catch (error) {
      state.done.add(range);
      await saveDone();
      throw error;
    }
  }

  /** Resolves when no append is in progress. */
  async idle(): Promise<void> {
    await this.#writes.idle();
  }

  /** To be called when nothing is appended any more. */
  async close(): Promise<void> {
    await this.#parts.writer.close();
  }

  async #appendPending(): Promise<void> {
    const puts = this.#pending;
    this.#pending = [];
    let failed = true;
    try {
      await this.#write(puts);
      failed = false;
    } finally {
      this.#parts.ended(puts, failed);
    }
  }

  async #write(puts: readonly LogPut[]): Promise<void> {
    const { state, writer, segments, disk, written, saveDone } = this.#parts;
    const first = this.#useNumbers(countOf(puts));
    const events = numbered(puts, first);
    const last = state.next - 1;
    this.#writing = events.length;
    try {
      const bytes = encodeGroup(puts, first);
      const segment = await writer.write({ bytes, first, last });
      segments.add(segment);
      this.#writing = 0;
      written({ events, puts, segment, bytes: bytes.length });
      // From here on the checkpoint knows that a file was begun, and which numbers before it were not used.
      if (segment.first === first) await saveDone();
    } catch (cause) {
      // Saved before a position can hold these numbers: a position above the numbers on disk is taken for a foreign one.
      await saveDone();
      // These numbers are not used again: if the disk kept some of the events after all, they are known to be done.
      state.done.add({ from: first, to: last });
      // And before there is a file behind them: after a kill they would be missing between files.
      await saveDone();
      throw disk.failed(cause);
    } finally {
      this.#writing = 0;
    }
    disk.succeeded();
  }

  /** Returns the first one; throws code `CHANNEL_NUMBERS_USED`. */
  #useNumbers(count: number): number {
    const { state, saveDone, channel } = this.#parts;
    const first = state.next;
    if (first + count - 1 > HIGHEST_SEQUENCE) throw numbersUsedUp(channel);
    state.next += count;
    if (state.next - state.savedNext > NUMBERS_BETWEEN_SAVES) void saveDone();
    return first;
  }
}

function countOf(puts: readonly LogPut[]): number {
  return puts.reduce((sum, { events }) => sum + events.length, 0);
}

function numbered(puts: readonly Pick<LogPut, "events">[], first: number): readonly QueuedEvent[] {
  const all: QueuedEvent[] = [];
  for (const { events } of puts) for (const event of events) all.push({ sequence: first + all.length, event });
  return all;
}

function numbersUsedUp(channel: string): AgentError {
  const remedy = "when its sinks have emptied it, stop the agent and remove the folders of the channel";
  const message = `putting into channel "${channel}": its ${HIGHEST_SEQUENCE} sequence numbers are used up; ${remedy}`;
  return new AgentError("CHANNEL_NUMBERS_USED", message, { retryable: true });
}
