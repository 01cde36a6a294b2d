import type { Unpacked } from "./packed-record.js";

/** The writers whose records are compared; more come only when many appends fail. */
const MOST_WRITERS = 1000;

/** Compares the records of each writer of a part: which came twice, and how many events are missing between two of them. */
export class WriterGaps {
  /** How many events each writer had appended, as far as it was read. */
  readonly #writers = new Map<string, number>();
  #lost = 0;

  /** Events of records that are missing between others of the same writer. */
  get lost(): number {
    return this.#lost;
  }

  /** False for a record that the engine has kept twice. */
  isNew({ writer, before, events }: Unpacked): boolean {
    const known = this.#writers.get(writer);
    if (known !== undefined && before < known) return false;
    if (known !== undefined) this.#lost += before - known;
    this.#writers.delete(writer);
    this.#writers.set(writer, before + events.length);
    const [oldest] = this.#writers.keys();
    if (this.#writers.size > MOST_WRITERS && oldest !== undefined) this.#writers.delete(oldest);
    return true;
  }
}
