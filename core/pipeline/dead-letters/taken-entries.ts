import type { Logger, SharedLetter } from "../../sdk/index.js";
import { isMark } from "./dead-letter.js";
import type { DeadLetters } from "./dead-letters.js";
import type { LateLetters, LetterOfEvent } from "./late-letters.js";
import type { OwnChanges } from "./own-changes.js";
import { isUnderstood, type PlacedChange } from "./shared-changes.js";
import { type ChangeEntry, entryOfText } from "./shared-entries.js";
import type { SharedErasures } from "./shared-erasures.js";

interface TakenEntriesParts {
  readonly letters: Pick<DeadLetters, "apply" | "closeBefore">;
  readonly erasures: SharedErasures;
  readonly own: OwnChanges;
  readonly late: Pick<LateLetters, "written">;
  /** Tells own entries from those of others. */
  readonly by: string;
  readonly log: Logger;
  /** Those whose letters are shared. */
  readonly sinks: ReadonlySet<string>;
  /** From now on the letters of this sink are shared, too. */
  readonly add: (sink: string) => Promise<void>;
}

/** Takes over the entries of a log of shared dead letters, in their order, and knows which of them are still needed. */
export class TakenEntries {
  readonly #parts: TakenEntriesParts;
  #places = new LetterPlaces();
  #others = new OtherGroups();
  #of = { log: "", group: "" };
  #next = 0;
  #changes = 0;

  constructor(parts: TakenEntriesParts) {
    this.#parts = parts;
  }

  /** The log, and the group of this agent; empty before the first. */
  get of(): { readonly log: string; readonly group: string } {
    return this.#of;
  }

  /** The offset from which to go on. */
  get next(): number {
    return this.#next;
  }

  /** Changes since the log was last trimmed. */
  get changes(): number {
    return this.#changes;
  }

  /** Whether an event of the channel, by what its positions call it, has a letter of some agent. */
  has(idInChannel: string): boolean {
    return this.#places.letter(idInChannel) !== undefined;
  }

  /** The letter of an event of the channel, if it has one. */
  letter(idInChannel: string): LetterOfEvent | undefined {
    return this.#places.letter(idInChannel);
  }

  /** The offset from which entries are needed for other things than open letters of this group. */
  oldest(): number {
    return Math.min(this.#next, this.#others.oldest() ?? this.#next, this.#parts.erasures.oldest() ?? this.#next);
  }

  /** The log was trimmed when there were this number of changes. */
  forgot(changes: number): void {
    this.#changes -= changes;
  }

  /** From now on entries are those of this log, from its first one on. */
  begin(of: { readonly log: string; readonly group: string }): void {
    this.#of = of;
    this.#next = 0;
    this.#places = new LetterPlaces();
    this.#others = new OtherGroups();
    this.#parts.erasures.clear();
  }

  async takeOver(entries: readonly SharedLetter[]): Promise<void> {
    const { erasures, log } = this.#parts;
    let changes: Numbered[] = [];
    for (const { offset, text } of entries) {
      const entry = entryOfText(text);
      if (entry === undefined) log.warn({ offset }, "an entry of shared dead letters cannot be read");
      else if (entry.kind === "forgotten") {
        await this.#apply(changes);
        changes = [];
        await this.#forgotten(entry.before);
      } else if (entry.kind === "erasure") {
        if (entry.group === this.#of.group) await erasures.takeOver(entry.erasure, offset);
      } else if (entry.group === this.#of.group) changes.push(this.#numbered(entry, offset));
      else this.#others.note(entry, offset);
    }
    await this.#apply(changes);
    this.#next = Math.max(this.#next, (entries.at(-1)?.offset ?? -1) + 1);
  }

  #numbered({ change, agent, by, number }: ChangeEntry, offset: number): Numbered {
    const own = by === this.#parts.by;
    return { ...change, place: { log: this.#of.log, offset, agent }, own, number: own ? number : 0 };
  }

  /** Of letters before this offset no agent has one open. */
  async #forgotten(before: number): Promise<void> {
    const { letters, erasures, sinks } = this.#parts;
    const place = { log: this.#of.log, offset: before - 1, agent: "" };
    for (const sink of sinks) await letters.closeBefore(sink, place);
    this.#places.forget(before);
    this.#others.forget(before);
    erasures.forget(before);
  }

  async #apply(changes: readonly Numbered[]): Promise<void> {
    const { letters, own, late, add } = this.#parts;
    for (const sink of new Set(changes.map((one) => one.sink))) {
      await add(sink);
      const ofSink = changes.filter((one) => one.sink === sink);
      const counted = await letters.apply(sink, ofSink);
      for (const [index, { number, place }] of ofSink.entries())
        own.returned(number, counted[index] === true ? place.offset : undefined);
    }
    for (const { sink, record, place } of changes) {
      if (!("event" in record)) continue;
      const letter = { sink, id: record.id };
      late.written(this.#places.note(letter, place.offset), letter);
    }
    this.#changes += changes.length;
  }
}

interface Numbered extends PlacedChange {
  /** 0 for a change of another agent. */
  readonly number: number;
}

/**
 * Which events of a channel have a shared letter, by what the positions of the channel call them: such an event is taken
 * again when the agent that wrote the letter ended before it had passed the event.
 */
class LetterPlaces {
  readonly #places = new Map<string, LetterOfEvent & { readonly offset: number }>();

  /** Returns what the positions call its event: the id of a letter is that, a hyphen and more. */
  note({ sink, id }: LetterOfEvent, offset: number): string {
    const idInChannel = id.slice(0, Math.max(0, id.lastIndexOf("-")));
    this.#places.set(idInChannel, { sink, id, offset });
    return idInChannel;
  }

  letter(idInChannel: string): LetterOfEvent | undefined {
    return this.#places.get(idInChannel);
  }

  /** The letters before this offset are settled. */
  forget(before: number): void {
    for (const [id, { offset }] of this.#places) if (offset < before) this.#places.delete(id);
  }
}

/** The open letters of other groups over the same log: their entries must stay, and are of no other use here. */
class OtherGroups {
  /** By group, sink and id: the offsets of the letter and of its last change. */
  readonly #letters = new Map<string, { readonly offset: number; readonly last: number }>();

  note({ group, change }: ChangeEntry, offset: number): void {
    const { sink, record } = change;
    const key = JSON.stringify([group, sink, record.id]);
    const before = this.#letters.get(key);
    if (before !== undefined && before.last >= offset) return;
    if (!isMark(record)) this.#letters.set(key, { offset, last: offset });
    else if (before !== undefined && isUnderstood(change, before.last)) {
      if (record.mark === "stored" || record.mark === "dropped") this.#letters.delete(key);
      else this.#letters.set(key, { offset: before.offset, last: offset });
    }
  }

  /** The offset of the oldest; undefined when there is none. */
  oldest(): number | undefined {
    let oldest: number | undefined;
    for (const { offset } of this.#letters.values()) oldest = Math.min(offset, oldest ?? offset);
    return oldest;
  }

  forget(before: number): void {
    for (const [key, { offset }] of this.#letters) if (offset < before) this.#letters.delete(key);
  }
}
