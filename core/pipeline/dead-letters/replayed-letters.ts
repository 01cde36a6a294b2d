import type { Event, Logger } from "../../sdk/index.js";
import { type SentLetter, sentLetterOf } from "./dead-letter.js";
import type { DeadLetters } from "./dead-letters.js";
import { rememberedLetters } from "./draft.js";
import type { LetterEntry } from "./letter-table.js";
import { NewestIds } from "./newest-ids.js";
import { StoredMarks } from "./stored-marks.js";

interface ReplayedLettersParts {
  /** The sink, or the group of sinks, that keeps letters under its name. */
  readonly sink: string;
  /** Other names under which its letters may have been kept: of the sinks of a group before they were in it. */
  readonly others?: readonly string[];
  readonly deadLetters: Pick<DeadLetters, "stored" | "entry" | "holder" | "markStored" | "storedUnlessChanged">;
  readonly log: Logger;
  /** See {@link StoredMarks}. */
  readonly markAgain?: number;
}

/** Events whose letter is stored. */
interface RepeatedEvents {
  /** The very events that are stored: another agent had them before. */
  readonly own: readonly Event[];
  /** Of these an earlier replay is. */
  readonly others: readonly Event[];
}

/** Events of which another agent said that they are done, and that are not the ones that are stored. */
interface EventsElsewhere {
  /** Their letters were kept again. */
  readonly failed: readonly Event[];
  /** Another replay of the same letter is stored. */
  readonly others: readonly Event[];
}

type Known = keyof EventsElsewhere;

/** What a sink must know of replays: which letters it has stored, so that none is stored twice. */
export class ReplayedLetters {
  readonly #parts: ReplayedLettersParts;
  readonly #stored = new NewestIds(rememberedLetters);
  readonly #marks: StoredMarks;

  constructor(parts: ReplayedLettersParts) {
    this.#parts = parts;
    this.#marks = new StoredMarks(parts.log, parts.markAgain);
  }

  /** Reads what earlier runs of the agent stored. */
  async start(): Promise<void> {
    const { sink, others = [], deadLetters } = this.#parts;
    for (const name of [sink, ...others]) {
      for (const id of await deadLetters.stored(name)) this.#stored.add(id);
    }
  }

  /**
   * Replayed events whose letter is stored already, or is in the list again. Of several the one that was sent last is delivered: an earlier one
   * may have failed elsewhere, and then nothing but the last one is left of the letter. `isStored`: this agent has stored it, and its letter
   * is not marked yet.
   */
  async repeated(events: readonly Event[], isStored: (event: Event) => boolean = () => false): Promise<RepeatedEvents> {
    const last = lastSentOf(events, isStored);
    const own: Event[] = [];
    const others: Event[] = [];
    for (const event of events) {
      const letter = sentLetterOf(event);
      if (letter === undefined) continue;
      if (await this.#isOwnStored(letter)) own.push(event);
      else if (last.get(letter.id) !== event || (await this.#isStored(letter.id))) others.push(event);
    }
    return { own, others };
  }

  /** Remembers that the letters of these events are stored; resolves to those of which another replay counts as the one that is. */
  async stored(events: readonly Event[]): Promise<readonly Event[]> {
    const letters = events.flatMap((event) => sentLetterOf(event) ?? []);
    if (letters.length === 0) return [];
    for (const { id } of letters) this.#stored.add(id);
    const known = new Map<string, Known>();
    await this.#marks.make(letters.length, async () => {
      for (const [holder, own] of await this.#byHolder(letters)) {
        await this.#parts.deadLetters.markStored(holder, own);
        for (const letter of own) {
          const { storedFrom } = (await this.#parts.deadLetters.entry(holder, letter.id)) ?? {};
          if (isOther(letter, storedFrom)) known.set(keyOf(letter), "others");
        }
      }
    });
    return eventsThatAre("others", events, known);
  }

  /**
   * The same for events of which another agent says that they are done. What it could not store has its letter again, which is all that is
   * left of it: this agent may not have heard of that yet, so the order of the changes decides.
   */
  async doneElsewhere(events: readonly Event[]): Promise<EventsElsewhere> {
    const letters = events.flatMap((event) => sentLetterOf(event) ?? []);
    const known = new Map<string, Known>();
    await this.#marks.make(letters.length, async () => {
      for (const [holder, own] of await this.#byHolder(letters)) {
        const stored = new Set(await this.#parts.deadLetters.storedUnlessChanged(holder, own));
        for (const id of stored) this.#stored.add(id);
        for (const letter of own) {
          const what = await this.#knownOf(holder, letter);
          if (what !== undefined) known.set(keyOf(letter), what);
        }
      }
    });
    const those = (what: Known) => eventsThatAre(what, events, known);
    return { failed: those("failed"), others: those("others") };
  }

  /** The very events that are stored, as far as this agent has heard. */
  async ownStored(events: readonly Event[]): Promise<readonly Event[]> {
    const own: Event[] = [];
    for (const event of events) {
      const letter = sentLetterOf(event);
      if (letter !== undefined && (await this.#isOwnStored(letter))) own.push(event);
    }
    return own;
  }

  /** Whether the letter was kept again after it was sent, or another event of it is the one that is stored. */
  async #knownOf(holder: string, { id, sentAt }: SentLetter): Promise<Known | undefined> {
    if (sentAt === undefined) return undefined;
    const { keptAt = sentAt, storedFrom } = (await this.#parts.deadLetters.entry(holder, id)) ?? {};
    if (storedFrom === sentAt) return undefined;
    if (keptAt > sentAt) return "failed";
    return isOther({ id, sentAt }, storedFrom) ? "others" : undefined;
  }

  /** By this agent, or by another one that shares its letters. */
  async #isStored(id: string): Promise<boolean> {
    return this.#stored.has(id) || (await this.#storedEntry(id)) !== undefined;
  }

  /** Whether it is the event that is stored which was sent then. */
  async #isOwnStored({ id, sentAt }: SentLetter): Promise<boolean> {
    return sentAt !== undefined && (await this.#storedEntry(id))?.storedFrom === sentAt;
  }

  async #storedEntry(id: string): Promise<LetterEntry | undefined> {
    const { sink, others = [], deadLetters } = this.#parts;
    for (const name of [sink, ...others]) {
      const entry = await deadLetters.entry(name, id);
      if (entry?.mark === "stored") return entry;
    }
    return undefined;
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

/** By letter the event that was sent last; the first one where nobody knows. */
function lastSentOf(events: readonly Event[], isStored: (event: Event) => boolean): ReadonlyMap<string, Event> {
  const last = new Map<string, { readonly event: Event; readonly sentAt: number }>();
  for (const event of events) {
    const letter = sentLetterOf(event);
    if (letter === undefined) continue;
    const { id } = letter;
    const sentAt = isStored(event) ? Number.POSITIVE_INFINITY : (letter.sentAt ?? -1);
    if (sentAt > (last.get(id)?.sentAt ?? Number.NEGATIVE_INFINITY)) last.set(id, { event, sentAt });
  }
  return new Map([...last].map(([id, { event }]) => [id, event]));
}

/** Whether it is known that another event of the letter is the one that is stored. */
function isOther({ sentAt }: SentLetter, storedFrom: number | undefined): boolean {
  return sentAt !== undefined && storedFrom !== undefined && storedFrom !== sentAt;
}

function eventsThatAre(what: Known, events: readonly Event[], known: ReadonlyMap<string, Known>): readonly Event[] {
  return events.filter((event) => known.get(keyOf(sentLetterOf(event))) === what);
}

/** Names one replay of a letter. */
function keyOf(letter: SentLetter | undefined): string {
  return letter === undefined ? "" : `${letter.id} ${letter.sentAt ?? ""}`;
}
