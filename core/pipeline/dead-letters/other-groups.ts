import { isMark } from "./dead-letter.js";
import type { ChangeEntry } from "./shared-entries.js";

/** The open letters of other groups over the same log: their entries must stay, and are of no other use here. */
export class OtherGroups {
  /** By group, sink and id: the offsets of the letter and of its last change. */
  readonly #letters = new Map<string, { readonly offset: number; readonly last: number }>();

  note({ group, change }: ChangeEntry, offset: number): void {
    const { sink, record, after } = change;
    const key = JSON.stringify([group, sink, record.id]);
    const before = this.#letters.get(key);
    if (before !== undefined && before.last >= offset) return;
    if (!isMark(record)) this.#letters.set(key, { offset, last: offset });
    else if (record.mark === "stored") this.#letters.delete(key);
    else if (before !== undefined && before.last === after) {
      if (record.mark === "dropped") this.#letters.delete(key);
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
