import { onAbort } from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import { Directory, type Place } from "../client/directory.js";
import type { Fetched } from "../client/fetching.js";
import { Reader } from "../client/reader.js";
import { readMetadata } from "../client/topics.js";
import type { KafkaSourceConfig } from "./config.js";
import type { ConsumerGroup, Membership } from "./consumer-group.js";
import { type Coordinator, isMoving } from "./coordinator.js";
import type { FirstLook } from "./first-look.js";
import type { Losses } from "./losses.js";
import { noteOf, partName } from "./mark.js";
import { OffsetBook } from "./offset-book.js";
import { LOOK_MILLIS, Positions } from "./positions.js";
import type { Reached } from "./reached.js";
import type { RecordReader } from "./record-reader.js";
import type { Sight, Standstills } from "./standstills.js";

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
  readonly reached: Reached;
  readonly firstLook: FirstLook;
  readonly standstills: Standstills;
  /** Called when it is known where partitions are read on, of all whose leaders answer at once. */
  begun(): void;
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
  const { cluster, coordinator, group, losses, config, reached, firstLook } = parts;
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
    const idOf = ({ topic }: Place) => directory.topic(topic).id;
    const book = new OffsetBook(coordinator, membership, {
      noteOf: (at) => noteOf(idOf(at), at),
      told: (at) => reached.tell(idOf(at), at),
    });
    const committed = places.length === 0 ? [] : await coordinator.committed(places);
    const begin = { cluster, directory, committed, config, losses, reached, firstLook, book };
    const positions = new Positions(places, begin, ending.signal);
    const reading = new PartitionReading({ ...parts, directory, positions, places });
    const commit = () => book.commit(late.signal);
    const committing = commitAtTimes(commit, config.commit_interval, ending.signal);
    try {
      await reading.run(ending.signal);
    } finally {
      ending.abort();
      await Promise.all([positions.end(), committing]);
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
  readonly positions: Positions;
  readonly places: readonly Place[];
}

class PartitionReading {
  readonly #parts: PartitionParts;
  readonly #reader: Reader;
  #isBegun = false;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: PartitionParts) {
    const { cluster, directory, groupName, config } = parts;
    this.#parts = parts;
    this.#reader = new Reader(cluster, directory, {
      purpose: `read ${groupName}`,
      isolation: config.isolation_level,
      // What it leads stands still, and the others are read.
      bearableMillis: Number.POSITIVE_INFINITY,
      bearsUnreadable: true,
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { places, positions } = this.#parts;
    try {
      while (!signal.aborted) {
        await positions.lead();
        if (signal.aborted) return;
        const readable = positions.readable();
        this.#look();
        if (readable.length > 0 || places.length === 0) this.#begun();
        if (places.length === 0) return await aborted(signal);
        if (readable.length === 0) continue;
        const waitMillis = readable.length < places.length ? LOOK_MILLIS : WAIT_MILLIS;
        const fetched = await this.#reader.read(readable, { bytes: READ_BYTES, waitMillis, signal });
        await Promise.all(fetched.map((one) => this.#take(one, signal)));
      }
    } finally {
      this.#reader.cancel();
    }
  }

  #begun(): void {
    if (!this.#isBegun) this.#parts.begun();
    this.#isBegun = true;
  }

  #look(): void {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_MILLIS) return;
    this.#lookedAt = now;
    const { places, standstills } = this.#parts;
    standstills.look(places.map((place) => [place, this.#sight(place)]));
  }

  #sight(place: Place): Sight {
    const { directory, positions } = this.#parts;
    const { topic, partition } = place;
    const leader = directory.presentLeader(place);
    if (leader === undefined) return { topic, partition, cause: "no-leader" };
    const at = positions.at(place);
    const isRead = at !== undefined && positions.isReadable(at);
    const failure = isRead ? this.#reader.failureOf(leader) : positions.failureOf(place);
    if (failure !== undefined) return { topic, partition, cause: "silent-leader", reason: failure.message };
    if (!isRead) return undefined;
    const unreadable = this.#reader.unreadableOf(place);
    if (unreadable !== undefined) return { topic, partition, cause: "unreadable", reason: unreadable.message };
    const isHeldBack = this.#reader.isHeldBack(place);
    if (isHeldBack === true) return { topic, partition, cause: "open-transaction", offset: at.offset };
    return isHeldBack === undefined ? undefined : "moving";
  }

  async #take(fetched: Fetched, signal: AbortSignal): Promise<void> {
    const { topic, partition, records, next } = fetched;
    const { losses, records: reader, groupName: group, directory, positions } = this.#parts;
    const at = positions.at(fetched);
    if (at === undefined) return;
    if (fetched.offset > at.offset) losses.removed(fetched, at.offset, fetched.offset);
    const { id } = directory.topic(topic);
    let epoch: number | undefined;
    let of = "";
    for (const record of records) {
      // Nearly all are of one leader, and a name takes longer than most of what a record takes.
      if (record.epoch !== epoch) of = partName(id, partition, { group, cuts: at.cuts, epoch: record.epoch });
      epoch = record.epoch;
      if (signal.aborted || !(await reader.read({ topic, record, of }, signal))) return;
      positions.done({ ...at, offset: record.offset + 1 });
    }
    positions.done({ ...at, offset: next });
  }
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
