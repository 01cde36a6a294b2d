import { createHash } from "node:crypto";
import { onAbort } from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import { Directory, type Place } from "../client/directory.js";
import type { Fetched } from "../client/fetching.js";
import type { Position } from "../client/offsets.js";
import { Reader } from "../client/reader.js";
import { readMetadata } from "../client/topics.js";
import { beginnings, type Losses } from "./beginnings.js";
import type { KafkaSourceConfig } from "./config.js";
import type { ConsumerGroup, Membership } from "./consumer-group.js";
import { type Coordinator, isMoving } from "./coordinator.js";
import { OffsetBook } from "./offset-book.js";
import type { RecordReader } from "./record-reader.js";

/** Bytes that are read at once. */
const READ_BYTES = 4_194_304;
const WAIT_MILLIS = 5000;
/** How long a source that ends waits for its offsets to be committed: records that were not come again. */
const LAST_COMMIT_MILLIS = 3000;

export interface ReadingParts {
  readonly cluster: KafkaCluster;
  readonly coordinator: Coordinator;
  readonly group: ConsumerGroup;
  readonly records: RecordReader;
  readonly losses: Losses;
  readonly config: KafkaSourceConfig;
  /** The group, also where the configuration leaves its name open. */
  readonly groupName: string;
}

/**
 * Reads the partitions of a membership until it is over or the signal aborts: those of a fetch side by side, and of each one record after
 * another, since a channel tells what comes again by the order of what came before.
 */
export async function readPartitions(
  membership: Membership,
  parts: ReadingParts,
  stopping: AbortSignal,
): Promise<void> {
  const { cluster, coordinator, group, losses, config } = parts;
  const { places } = membership;
  const ending = new AbortController();
  const late = new AbortController();
  let lateTimer: NodeJS.Timeout | undefined;
  onAbort(ending.signal, () => {
    lateTimer = setTimeout(() => late.abort(), LAST_COMMIT_MILLIS);
  });
  const stopListening = onAbort(stopping, () => ending.abort());
  const kept = group.keep(membership, ending.signal).finally(() => ending.abort());
  try {
    const topics = [...new Set(places.map(({ topic }) => topic))];
    const directory = new Directory(cluster, await readMetadata(cluster, topics));
    const book = new OffsetBook(coordinator, membership, ({ topic }) => directory.topic(topic).id);
    const positions = await beginnings(places, { cluster, directory, coordinator, start: config.start, losses });
    const reading = new PartitionReading({ ...parts, directory, book }, positions);
    const commit = () => book.commit(late.signal);
    const committing = commitAtTimes(commit, config.commit_interval, ending.signal);
    try {
      await reading.run(ending.signal);
    } finally {
      ending.abort();
      await committing;
    }
    // The next membership reads again what was not committed; that it waits for its coordinator is its own matter.
    await commit().catch((error: unknown) => {
      if (!isMoving(error)) throw error;
    });
  } finally {
    ending.abort();
    stopListening();
    await kept;
    clearTimeout(lateTimer);
  }
}

interface PartitionParts extends ReadingParts {
  readonly directory: Directory;
  readonly book: OffsetBook;
}

class PartitionReading {
  readonly #parts: PartitionParts;
  readonly #next: Map<string, Position>;

  constructor(parts: PartitionParts, positions: readonly Position[]) {
    this.#parts = parts;
    this.#next = new Map(positions.map((position) => [keyOf(position), position]));
  }

  async run(signal: AbortSignal): Promise<void> {
    const { cluster, directory, groupName } = this.#parts;
    const reader = new Reader(cluster, directory, `read ${groupName}`);
    try {
      while (!signal.aborted) {
        const positions = [...this.#next.values()];
        if (positions.length === 0) return await aborted(signal);
        const limits = { bytes: READ_BYTES, waitMillis: WAIT_MILLIS, signal };
        const fetched = await reader.read(positions, limits);
        await Promise.all(fetched.map((one) => this.#take(one, signal)));
      }
    } finally {
      reader.cancel();
    }
  }

  async #take(fetched: Fetched, signal: AbortSignal): Promise<void> {
    const { topic, partition, records, next } = fetched;
    const { book, losses, records: reader, groupName, directory } = this.#parts;
    const expected = this.#next.get(keyOf(fetched))?.offset ?? fetched.offset;
    if (fetched.offset > expected) losses.removed(fetched, expected, fetched.offset);
    const of = partName(directory.topic(topic).id, partition, groupName);
    for (const record of records) {
      if (signal.aborted || !(await reader.read({ topic, record, of }, signal))) return;
      this.#at(fetched, record.offset + 1);
    }
    this.#at(fetched, next);
    book.done({ topic, partition }, next);
  }

  #at({ topic, partition }: Place, offset: number): void {
    this.#next.set(keyOf({ topic, partition }), { topic, partition, offset });
    this.#parts.book.done({ topic, partition }, offset);
  }
}

/** Names what one group reads of one partition: another group reads it again. */
export function partName(topicId: string, partition: number, group: string): string {
  return `${topicId}/${partition}/${createHash("sha256").update(group).digest("hex").slice(0, 8)}`;
}

async function commitAtTimes(commit: () => Promise<void>, millis: number, signal: AbortSignal): Promise<void> {
  for (;;) {
    await aborted(signal, millis);
    if (signal.aborted) return;
    // What was not committed is committed the next time, or read again.
    await commit().catch(() => undefined);
  }
}

/** Returns when the signal aborts, or after this time. */
async function aborted(signal: AbortSignal, millis?: number): Promise<void> {
  await new Promise<void>((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const stopListening = onAbort(signal, () => {
      clearTimeout(timer);
      resolve();
    });
    if (millis === undefined || signal.aborted) return;
    timer = setTimeout(() => {
      stopListening();
      resolve();
    }, millis);
  });
}

function keyOf({ topic, partition }: Place): string {
  return `${topic}:${partition}`;
}
