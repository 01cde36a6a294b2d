import { type Event, type Logger, letterHeader, reasonOf } from "../../sdk/index.js";
import { type SentLetter, sentLetterOf } from "./dead-letter.js";
import type { DeadLetters } from "./dead-letters.js";
import { rememberedLetters } from "./draft.js";

interface ReplayedLettersParts {
  /** The sink, or the group of sinks, that keeps letters under its name. */
  readonly sink: string;
  /** Other names under which its letters may have been kept: of the sinks of a group before they were in it. */
  readonly others?: readonly string[];
  readonly deadLetters: Pick<DeadLetters, "stored" | "entry" | "holder" | "mark" | "storedUnlessChanged">;
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
    const letters = events.flatMap((event) => sentLetterOf(event) ?? []);
    if (letters.length === 0) return;
    for (const { id } of letters) this.#stored.add(id);
    await this.#tried(letters, async () => {
      for (const [holder, own] of await this.#byHolder(letters)) {
        const ids = own.map(({ id }) => id);
        await this.#parts.deadLetters.mark(holder, ids, "stored");
      }
    });
  }

  /**
   * The same for events of which another agent says that they are done. What it could not store has its letter again, which is all that is
   * left of it: this agent may not have heard of that yet, so the order of the changes decides. Resolves to these.
   */
  async doneElsewhere(events: readonly Event[]): Promise<readonly Event[]> {
    const letters = events.flatMap((event) => sentLetterOf(event) ?? []);
    if (letters.length === 0) return [];
    const failed = new Set<string>();
    await this.#tried(letters, async () => {
      for (const [holder, own] of await this.#byHolder(letters)) {
        const stored = new Set(await this.#parts.deadLetters.storedUnlessChanged(holder, own));
        for (const id of stored) this.#stored.add(id);
        for (const letter of own) if (await this.#failedAgain(holder, letter)) failed.add(letter.id);
      }
    });
    return events.filter((event) => failed.has(sentLetterOf(event)?.id ?? ""));
  }

  /** Whether the letter was kept again after it was sent. */
  async #failedAgain(holder: string, { id, sentAt }: SentLetter): Promise<boolean> {
    if (sentAt === undefined) return false;
    return ((await this.#parts.deadLetters.entry(holder, id))?.keptAt ?? sentAt) > sentAt;
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

  async #tried({ length }: readonly SentLetter[], mark: () => Promise<void>): Promise<void> {
    try {
      await mark();
    } catch (error) {
      this.#parts.log.error(
        { letters: length, reason: reasonOf(error) },
        "replayed letters are stored but not marked so",
      );
    }
  }

  /** Each where it is kept: another sink of the same channel, or of the group, may have refused it. */
  async #byHolder(letters: readonly SentLetter[]): Promise<ReadonlyMap<string, readonly SentLetter[]>> {
    const { sink, deadLetters } = this.#parts;
    const holders = new Map<string, SentLetter[]>();
    for (const letter of letters) {
      const holder = (await deadLetters.holder(letter.id)) ?? sink;
      const own = holders.get(holder) ?? [];
      own.push(letter);
      holders.set(holder, own);
    }
    return holders;
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
