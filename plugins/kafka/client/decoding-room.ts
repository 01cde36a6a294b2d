import { getHeapStatistics } from "node:v8";
import type { Reader } from "@platformatic/kafka";

const SHARE_OF_HEAP = 4;
const MOST = 268_435_456;
/** Measured, in bytes: of a record, and of a header of one, besides what they hold. */
const RECORD = 500;
const HEADER = 450;

/** What is decoded of one answer, so that a few bytes that many come of do not end the agent. */
export class DecodingRoom {
  /** The most bytes of one batch. */
  readonly most: number;
  #taken = 0;

  constructor(heapLimit = getHeapStatistics().heap_size_limit) {
    this.most = Math.min(MOST, Math.floor(heapLimit / SHARE_OF_HEAP));
  }

  /** Whether what has not been decoded is to be asked for again. */
  get isFull(): boolean {
    return this.#taken >= this.most;
  }

  /** Takes what a batch needs with its records; throws where a batch alone needs more than there is. */
  take(bytes: number, records: number, reader: Reader): void {
    let cost = bytes;
    for (let index = 0; index < records && cost <= this.most; index += 1) cost += costOfNext(reader);
    if (cost > this.most) throw this.exceeded();
    this.#taken += cost;
  }

  /** What is said of a batch that needs more. */
  exceeded(): Error {
    return new Error(
      `take more than ${this.most} bytes of memory, the most that this agent has for them; a larger heap (--max-old-space-size) allows up to ${MOST}`,
    );
  }
}

/** What the objects of a record take beside its bytes. */
function costOfNext(reader: Reader): number {
  const end = reader.readVarInt() + reader.position;
  reader.skip(1);
  reader.readVarInt64();
  reader.readVarInt();
  skipBytes(reader);
  skipBytes(reader);
  const headers = Math.max(0, reader.readVarInt());
  reader.position = end;
  return RECORD + headers * HEADER;
}

/** Behind their length, which is below 0 for none. */
function skipBytes(reader: Reader): void {
  reader.skip(Math.max(0, reader.readVarInt()));
}
