import type { Unpacked } from "./packed-record.js";

/** The writers whose records are compared; more come only when many appends fail. */
const MOST_WRITERS = 1000;

/** A record, and its offset. */
export interface PlacedRecord extends Unpacked {
  readonly offset: number;
}

/** The writer of a record that cannot be read: what it holds is missing, and it is there. */
export function unreadableAt(offset: number): string {
  return `unreadable ${offset}`;
}

/** Compares the records of each writer of a part: which came twice, and what is missing between two of them. */
export class WriterGaps {
  /** How many events each writer had appended, as far as it was read. */
  readonly #writers = new Map<string, number>();
  /** Records up to this offset need not have been read; -1: nothing is known of what was before. */
  #passed: number;
  #lost = 0;

  /** `passed`: the offset up to which all is done; -1 when that is not known. */
  constructor(passed: number) {
    this.#passed = passed;
  }

  /** Events of records that are missing between others of the same writer; records, where their number is not known. */
  get lost(): number {
    return this.#lost;
  }

  /** Whether it is known up to where all is done. */
  get isBegun(): boolean {
    return this.#passed >= 0;
  }

  /** The offset of a record that was to be read before one of these; undefined when none is known. */
  lacking(records: Iterable<PlacedRecord>): number | undefined {
    const read = new Map<string, number>();
    for (const { writer, follows, before, events } of records) {
      const known = read.get(writer) ?? this.#writers.get(writer);
      const isNext = known === undefined ? follows === undefined || follows <= this.#passed : before <= known;
      if (!isNext && follows !== undefined && !read.has(unreadableAt(follows)) && !this.#isUnreadable(follows))
        return follows;
      read.set(writer, Math.max(known ?? 0, before + events.length));
    }
    return undefined;
  }

  /** What is up to this offset need not be read any more. */
  passTo(offset: number): void {
    this.#passed = Math.max(this.#passed, offset);
  }

  /** False for a record that the engine has kept twice. */
  isNew(record: PlacedRecord): boolean {
    const { writer, before, events, offset } = record;
    const known = this.#writers.get(writer);
    if (known !== undefined && before < known) return false;
    if (known !== undefined) this.#lost += before - known;
    else if (this.isBegun && this.lacking([record]) !== undefined) this.#lost += 1;
    this.#writers.delete(writer);
    this.#writers.set(writer, before + events.length);
    const [oldest] = this.#writers.keys();
    if (this.#writers.size > MOST_WRITERS && oldest !== undefined) {
      this.#writers.delete(oldest);
      this.passTo(offset);
    }
    return true;
  }

  #isUnreadable(offset: number): boolean {
    return this.#writers.has(unreadableAt(offset));
  }
}
