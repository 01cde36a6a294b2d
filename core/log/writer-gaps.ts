import type { Unpacked } from "./packed-record.js";

/** The writers whose records are compared; more come only when many appends fail. */
const MOST_WRITERS = 1000;

/** A record, and its offset. */
interface PlacedRecord extends Unpacked {
  readonly offset: number;
}

/** A record that was to be read before the one at `before`, which says so. */
export interface Lacking {
  readonly offset: number;
  readonly before: number;
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

  /** What was to be read before one of these records, from the offset `from` on; undefined when nothing is known of it. */
  lacking(records: readonly PlacedRecord[], from: number): Lacking | undefined {
    // This is asked of each record, most of which come alone.
    const read = records.length > 1 ? new Map<string, number>() : undefined;
    for (const record of records) {
      if (record.offset < from) continue;
      const { writer, before, events } = record;
      const known = read?.get(writer) ?? this.#writers.get(writer);
      const lacking = this.#lackingBefore(record, known);
      if (lacking !== undefined && read?.has(unreadableAt(lacking)) !== true)
        return { offset: lacking, before: record.offset };
      read?.set(writer, Math.max(known ?? 0, before + events.length));
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
    else if (this.isBegun && this.#lackingBefore(record, known) !== undefined) this.#lost += 1;
    this.#writers.delete(writer);
    this.#writers.set(writer, before + events.length);
    const [oldest] = this.#writers.keys();
    if (this.#writers.size > MOST_WRITERS && oldest !== undefined) {
      this.#writers.delete(oldest);
      this.passTo(offset);
    }
    return true;
  }

  /** `known`: how many events its writer had appended, as far as that was read. */
  #lackingBefore({ follows, before, offset }: PlacedRecord, known: number | undefined): number | undefined {
    // Nothing follows what comes behind it: an agent did not write that.
    if (follows === undefined || follows >= offset) return undefined;
    if (known === undefined ? follows <= this.#passed : before <= known) return undefined;
    return this.#writers.has(unreadableAt(follows)) ? undefined : follows;
  }
}
