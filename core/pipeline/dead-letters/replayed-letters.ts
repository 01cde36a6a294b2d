import { type Event, type Logger, letterHeader, reasonOf } from "../../sdk/index.js";
import type { DeadLetters } from "./dead-letters.js";
import { rememberedLetters } from "./draft.js";

interface ReplayedLettersParts {
  /** The sink, or the group of sinks, that keeps letters under its name. */
  readonly sink: string;
  /** Other names under which its letters may have been kept: of the sinks of a group before they were in it. */
  readonly others?: readonly string[];
  readonly deadLetters: Pick<DeadLetters, "stored" | "entry" | "holder" | "mark">;
  readonly log: Logger;
}

/** What a sink must know of replays: which letters it has stored, so that none is stored twice. */
export class ReplayedLetters {
  readonly #parts: ReplayedLettersParts;
  readonly #stored = new NewestIds(rememberedLetters);

  constructor(parts: ReplayedLettersParts) {
    this.#parts = parts;
  }

  /** Reads what earlier runs of the agent stored. */
  async start(): Promise<void> {
    const { sink, others = [], deadLetters } = this.#parts;
    for (const name of [sink, ...others]) {
      for (const id of await deadLetters.stored(name)) this.#stored.add(id);
    }
  }

  /** Replayed events whose letter is stored already, or is in the list before them. */
  async repeated(events: readonly Event[]): Promise<readonly Event[]> {
    const seen = new Set<string>();
    const repeated: Event[] = [];
    for (const event of events) {
      const id = event.headers[letterHeader];
      if (id === undefined) continue;
      if (seen.has(id) || (await this.#isStored(id))) repeated.push(event);
      seen.add(id);
    }
    return repeated;
  }

  /** Remembers that the letters of these events are stored. */
  async stored(events: readonly Event[]): Promise<void> {
    const ids = events.map(({ headers }) => headers[letterHeader]).filter((id) => id !== undefined);
    if (ids.length === 0) return;
    for (const id of ids) this.#stored.add(id);
    const { log } = this.#parts;
    try {
      await this.#mark(ids);
    } catch (error) {
      log.error({ letters: ids.length, reason: reasonOf(error) }, "replayed letters are stored but not marked so");
    }
  }

  /**
   * The same for events of which another agent says that they are done: what it could not store has its letter again, which waits and is all
   * that is left of it.
   */
  async doneElsewhere(events: readonly Event[]): Promise<void> {
    const { deadLetters } = this.#parts;
    const stored: Event[] = [];
    for (const event of events) {
      const id = event.headers[letterHeader];
      const holder = id === undefined ? undefined : await deadLetters.holder(id);
      const entry = id === undefined || holder === undefined ? undefined : await deadLetters.entry(holder, id);
      if (entry?.mark !== "waiting") stored.push(event);
    }
    await this.stored(stored);
  }

  /** By this agent, or by another one that shares its letters. */
  async #isStored(id: string): Promise<boolean> {
    if (this.#stored.has(id)) return true;
    const { sink, others = [], deadLetters } = this.#parts;
    for (const name of [sink, ...others]) {
      if ((await deadLetters.entry(name, id))?.mark === "stored") return true;
    }
    return false;
  }

  /** Each where it is kept: another sink of the same channel, or of the group, may have refused it. */
  async #mark(ids: readonly string[]): Promise<void> {
    const { sink, deadLetters } = this.#parts;
    const holders = new Map<string, string[]>();
    for (const id of ids) {
      const holder = (await deadLetters.holder(id)) ?? sink;
      holders.set(holder, [...(holders.get(holder) ?? []), id]);
    }
    for (const [holder, own] of holders) await deadLetters.mark(holder, own, "stored");
  }
}

/** The ids that were added last, this number at least and twice as many at most. */
class NewestIds {
  readonly #least: number;
  #ids = new Set<string>();
  #before: ReadonlySet<string> = new Set();

  constructor(least: number) {
    this.#least = least;
  }

  has(id: string): boolean {
    return this.#ids.has(id) || this.#before.has(id);
  }

  add(id: string): void {
    if (this.#ids.size === this.#least) {
      this.#before = this.#ids;
      this.#ids = new Set();
    }
    this.#ids.add(id);
  }
}
