import type { OwnPart } from "./own-parts.js";
import type { PartReader } from "./part-reader.js";
import type { Appended } from "./partitioned-log.js";
import type { ReadRecord, ReadRecords } from "./read-edge.js";

interface OwnAppendsParts {
  /** The parts that this agent reads. */
  readonly own: ReadonlyMap<number, OwnPart>;
  readonly reader: Pick<PartReader, "hasRoom" | "left" | "missed">;
  add(part: number, read: ReadRecords): void;
  /** A record is in the log. */
  appended(part: number, offset: number): void;
}

/** What this agent has appended, and what would be read of it. */
interface Echo {
  readonly value: Uint8Array;
  record(): ReadRecord;
}

/** What this agent has appended to the log, to its own parts and to those of others. */
export class OwnAppends {
  readonly #parts: OwnAppendsParts;
  /** By part: the newest record. */
  readonly #newest = new Map<number, number>();
  #untold = 0;

  constructor(parts: OwnAppendsParts) {
    this.#parts = parts;
  }

  /** Events in parts of other agents that these have not told of. */
  get untold(): number {
    return this.#untold;
  }

  /** Events are appended to parts of other agents. */
  elsewhere(events: number): void {
    this.#untold += events;
  }

  /** The other agents have told how many events wait. */
  told(): void {
    this.#untold = 0;
  }

  /** The offset of the newest record in the part; -1 for none. */
  newest(part: number): number {
    return this.#newest.get(part) ?? -1;
  }

  /**
   * A record is appended: it is not read when nothing is between it and what was read before, and not decoded when it is
   * read behind something else.
   */
  echo(part: number, { offset, previous }: Appended, { value, record }: Echo): void {
    const { reader } = this.#parts;
    this.#newest.set(part, offset);
    this.#parts.appended(part, offset);
    const own = this.#parts.own.get(part);
    if (own === undefined || offset < own.queue.next) return;
    if (!reader.hasRoom(own)) reader.left(part);
    else if (previous === undefined || !own.queue.follows(previous + 1)) reader.missed(own, value, record);
    else this.#parts.add(part, { from: previous + 1, records: [record()] });
  }
}
