import type { Directory } from "../client/directory.js";
import type { Fetched } from "../client/fetching.js";
import type { Losses } from "./losses.js";
import { partName } from "./mark.js";
import type { Positions } from "./positions.js";
import type { RecordReader } from "./record-reader.js";

/** Bytes of records that wait for channels, with which no more are read. */
const MOST_BYTES = 16_777_216;

interface TakingParts {
  readonly records: Pick<RecordReader, "read">;
  readonly losses: Pick<Losses, "removed">;
  /** The group, also where the configuration leaves its name open. */
  readonly groupName: string;
  readonly directory: Pick<Directory, "topic">;
  readonly positions: Pick<Positions, "at" | "done" | "putting">;
}

/**
 * Hands what was read of partitions to the channels: partitions side by side, and of each one record after another, since a channel tells
 * what comes again by the order of what came before.
 */
export class Takings {
  readonly #parts: TakingParts;
  readonly #signal: AbortSignal;
  readonly #underWay = new Set<Promise<void>>();
  #bytes = 0;

  constructor(parts: TakingParts, signal: AbortSignal) {
    this.#parts = parts;
    this.#signal = signal;
  }

  /** Whether records are held. */
  get isHolding(): boolean {
    return this.#underWay.size > 0;
  }

  /** Resolves when there is room for more. */
  async room(): Promise<void> {
    while (this.#bytes >= MOST_BYTES) await Promise.race(this.#underWay);
  }

  /** Resolves when all of it is in the channels, or its partition waits for them: the others are read on. */
  async take(fetched: Fetched): Promise<void> {
    const bytes = fetched.records.reduce((sum, { value }) => sum + (value?.byteLength ?? 0), 0);
    await new Promise<void>((resolve) => {
      this.#bytes += bytes;
      const work = this.#parts.positions.putting(fetched, this.#put(fetched, resolve)).then(() => {
        this.#bytes -= bytes;
        this.#underWay.delete(work);
        resolve();
      });
      this.#underWay.add(work);
    });
  }

  async #put({ topic, partition, records, offset, next }: Fetched, held: () => void): Promise<void> {
    const { losses, records: reader, groupName: group, directory, positions } = this.#parts;
    const at = positions.at({ topic, partition });
    if (at === undefined) return;
    if (offset > at.offset) losses.removed(at, at.offset, offset);
    const { id } = directory.topic(topic);
    let epoch: number | undefined;
    let of = "";
    for (const record of records) {
      // Nearly all are of one leader, and a name takes longer than most of what a record takes.
      if (record.epoch !== epoch) of = partName(id, partition, { group, cuts: at.cuts, epoch: record.epoch });
      epoch = record.epoch;
      if (this.#signal.aborted || !(await reader.read({ topic, partition, record, of, held }, this.#signal))) return;
      positions.done({ ...at, offset: record.offset + 1 });
    }
    positions.done({ ...at, offset: next });
  }
}
