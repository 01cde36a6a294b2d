import type { LogPart, LogRecord } from "deneb/log";

/** Records by part. */
export type Records = Map<LogPart, LogRecord[]>;

/** A part, and the offset from which on its next record is wanted. */
export interface Asked {
  readonly part: LogPart;
  readonly offset: number;
}

const LEAST_SHARE = 65_536;
const MOST_SHARE = 524_288;

/** The parts that are to be asked, and what was found within the bytes of an answer. */
export class Collection {
  readonly records: Records = new Map();
  readonly waiting: (readonly [LogPart, number])[];
  readonly #bytes: number;
  #taken = 0;
  #count = 0;
  #asking = 0;

  constructor(parts: readonly (readonly [LogPart, number])[], bytes: number) {
    this.waiting = [...parts];
    this.#bytes = bytes;
  }

  /** Undefined when those under way will fill the answer, if they are as large as the others. */
  next(): Asked | undefined {
    const average = this.#count === 0 ? 0 : this.#taken / this.#count;
    if (this.#taken + this.#asking * average >= this.#bytes && this.#count > 0) return undefined;
    const first = this.waiting.shift();
    if (first === undefined) return undefined;
    this.#asking += 1;
    const [part, offset] = first;
    return { part, offset };
  }

  /** Bytes that each part may still have; more than is kept of a part does not help. */
  get share(): number {
    const share = (this.#bytes - this.#taken) / Math.max(1, this.waiting.length + this.#asking);
    return Math.floor(Math.min(MOST_SHARE, Math.max(LEAST_SHARE, share)));
  }

  /** Whether several records of a part are here. */
  isMany(part: LogPart): boolean {
    return (this.records.get(part)?.length ?? 0) > 1;
  }

  answered(): void {
    this.#asking -= 1;
  }

  again(part: LogPart, offset: number): void {
    this.waiting.push([part, offset]);
  }

  /** Whether the record is in the answer; the first one always is. */
  takes(part: LogPart, record: LogRecord): boolean {
    const { length } = record.value;
    if (this.#count > 0 && this.#taken + length > this.#bytes) return false;
    this.#taken += length;
    this.#count += 1;
    const records = this.records.get(part);
    if (records === undefined) this.records.set(part, [record]);
    else records.push(record);
    return true;
  }
}
