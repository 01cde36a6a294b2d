import { type Event, type Logger, letterHeader, reasonOf } from "../sdk/index.js";
import { derivedIds } from "./dead-letter-id.js";
import type { DeadLetters } from "./dead-letters.js";

export { letterHeader } from "../sdk/index.js";

/** An event without the header of its letter. */
export function withoutLetter(event: Event): Event {
  if (event.headers[letterHeader] === undefined) return event;
  const { [letterHeader]: _, ...headers } = event.headers;
  return { ...event, headers };
}

export interface ReplayedLettersParts {
  /** The sink, or the group of sinks, that keeps letters under its name. */
  readonly sink: string;
  /** Other names under which its letters may have been kept: of the sinks of a group before they were in it. */
  readonly others?: readonly string[];
  readonly deadLetters: DeadLetters;
  /** What the sink takes from. A durable one may return events that were kept before the process ended. */
  readonly channel?: { readonly durable?: boolean; readonly size: number };
  readonly log: Logger;
}

/** What a sink must know of replays: which letters it has stored, so that none is stored twice. */
export class ReplayedLetters {
  readonly #parts: ReplayedLettersParts;
  readonly #stored = new Set<string>();
  /** Of events that a process before this one kept and that their channel may return again. */
  #kept: ReadonlySet<string> = new Set();
  /** How many events of the channel may be among them: those that were there at the start. */
  #toCompare = 0;
  readonly #compared = new WeakSet<Event>();

  constructor(parts: ReplayedLettersParts) {
    this.#parts = parts;
  }

  /** Reads what earlier runs of the agent stored. */
  async start(): Promise<void> {
    const { sink, others = [], deadLetters, channel } = this.#parts;
    for (const name of [sink, ...others]) {
      for (const id of await deadLetters.stored(name)) this.#stored.add(id);
    }
    if (channel?.durable !== true || channel.size === 0) return;
    this.#kept = await deadLetters.derived(sink);
    this.#toCompare = this.#kept.size === 0 ? 0 : channel.size;
  }

  /**
   * Replayed events whose letter is stored already, or is in the list before them, and events that were kept as dead
   * letters just before the process before this one ended.
   */
  repeated(events: readonly Event[]): readonly Event[] {
    if (this.#toCompare === 0) return this.#replayedTwice(events);
    const fresh = events.filter((event) => !this.#compared.has(event));
    for (const event of fresh) this.#compared.add(event);
    this.#toCompare = Math.max(0, this.#toCompare - fresh.length);
    const ids = derivedIds(this.#parts.sink, events);
    const kept = events.filter((event) => {
      const id = event.headers[letterHeader] === undefined ? ids.get(event) : undefined;
      return id !== undefined && this.#kept.has(id);
    });
    return [...kept, ...this.#replayedTwice(events)];
  }

  #replayedTwice(events: readonly Event[]): readonly Event[] {
    const seen = new Set<string>();
    return events.filter(({ headers }) => {
      const id = headers[letterHeader];
      if (id === undefined) return false;
      if (this.#stored.has(id) || seen.has(id)) return true;
      seen.add(id);
      return false;
    });
  }

  /** Remembers that the letters of these events are stored. */
  async stored(events: readonly Event[]): Promise<void> {
    const ids = events.map(({ headers }) => headers[letterHeader]).filter((id) => id !== undefined);
    if (ids.length === 0) return;
    for (const id of ids) this.#stored.add(id);
    const { sink, others = [], log } = this.#parts;
    try {
      if (others.length === 0) await this.#mark(sink, ids);
      else for (const name of [sink, ...others]) await this.#mark(name, await this.#keptBy(name, ids));
    } catch (error) {
      log.error({ letters: ids.length, reason: reasonOf(error) }, "replayed letters are stored but not marked so");
    }
  }

  async #mark(name: string, ids: readonly string[]): Promise<void> {
    await this.#parts.deadLetters.mark(name, ids, "stored");
  }

  /** A letter that is replayed has a standing where it is kept. */
  async #keptBy(name: string, ids: readonly string[]): Promise<readonly string[]> {
    const entries = await Promise.all(ids.map((id) => this.#parts.deadLetters.entry(name, id)));
    return ids.filter((_id, index) => entries[index] !== undefined);
  }
}
