import type { ReadRecord } from "./read-edge.js";

/** More records of a part are not kept, however small they are. */
const MOST_RECORDS = 1000;

interface OwnRecord {
  readonly value: Uint8Array;
  readonly record: ReadRecord;
}

/**
 * Records of a part that this agent has appended behind others that it has not read. What is read at such a place is compared
 * with what was appended there; when it is the same, byte by byte, it need not be decoded.
 */
export class OwnRecords {
  readonly #records = new Map<number, OwnRecord>();
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** `value` is what was appended, and `record` what would be read of it. */
  keep(record: ReadRecord, value: Uint8Array): void {
    if (this.#records.size >= MOST_RECORDS) return;
    this.#bytes += value.byteLength;
    this.#records.set(record.offset, { value, record });
  }

  /** The record that was appended at this offset; undefined unless it had this value. */
  found(offset: number, value: Uint8Array): ReadRecord | undefined {
    const own = this.#records.get(offset);
    return own !== undefined && Buffer.compare(own.value, value) === 0 ? own.record : undefined;
  }

  /** What is before this offset is not read any more. */
  forget(before: number): void {
    for (const [offset, { value }] of this.#records) {
      if (offset >= before) return;
      this.#records.delete(offset);
      this.#bytes -= value.byteLength;
    }
  }
}
