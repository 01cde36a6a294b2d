import type { FileHandle } from "node:fs/promises";
import { readFully } from "./files.js";
import { readRecord, type StoredRecord } from "./record.js";

/** Bytes read from a segment at once; more only for a record that is larger. */
const CHUNK_BYTES = 1024 * 1024;

export interface Placed {
  readonly record: StoredRecord;
  /** Where the record ends in the file. */
  readonly end: number;
}

export interface Chunk {
  readonly records: readonly Placed[];
  /** Where to go on. */
  readonly next: number;
  /** The last place where something else than a record stands; undefined when there is none. */
  readonly damagedAt: number | undefined;
}

/** Reads the records that begin at `from`, about a chunk of them and none beyond `to`; damaged ones are left out. */
export async function readChunk(file: FileHandle, from: number, to: number): Promise<Chunk> {
  for (let wanted = CHUNK_BYTES; ; ) {
    const bytes = await readFully(file, from, Math.min(wanted, to - from));
    const isLast = from + bytes.length >= to || bytes.length < Math.min(wanted, to - from);
    const { records, at, needs, damagedAt } = recordsIn(bytes, from);
    if (isLast) return { records, next: to, damagedAt };
    if (at > 0) return { records, next: from + at, damagedAt };
    wanted = needs;
  }
}

function recordsIn(bytes: Buffer, from: number) {
  const records: Placed[] = [];
  let damagedAt: number | undefined;
  let at = 0;
  for (;;) {
    const reading = readRecord(bytes, at);
    if (reading.kind === "partial") return { records, at, needs: reading.bytes, damagedAt };
    if (reading.kind === "record") records.push({ record: reading.record, end: from + reading.next });
    else damagedAt = from + at;
    at = reading.next;
  }
}
