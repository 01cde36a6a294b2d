import { onAbort } from "deneb/sdk";
import type { KafkaCluster } from "../client/cluster.js";
import { Directory, type Place } from "../client/directory.js";
import { Reader } from "../client/reader.js";
import { readMetadata } from "../client/topics.js";
import type { KafkaSourceConfig } from "./config.js";
import type { ConsumerGroup, Membership } from "./consumer-group.js";
import { type Coordinator, isMoving, isOfTopic } from "./coordinator.js";
import type { FirstLook } from "./first-look.js";
import type { Losses } from "./losses.js";
import { noteOf, ownNote } from "./mark.js";
import { OffsetBook } from "./offset-book.js";
import { LOOK_MILLIS, Positions } from "./positions.js";
import type { Reached } from "./reached.js";
import type { RecordReader } from "./record-reader.js";
import type { Sight, Standstills } from "./standstills.js";
import { Takings } from "./takings.js";

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

/** Reads the partitions of a membership until it is over or the signal aborts. */
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
    const metadata = await readMetadata(cluster, topics);
    const { clusterId } = metadata;
    const directory = new Directory(cluster, metadata);
    const idOf = ({ topic }: Place) => directory.topic(topic).id;
    const book = new OffsetBook(coordinator, membership, {
      noteOf: (at) => noteOf({ id: idOf(at), clusterId }, at),
      told: (at) => reached.tell(idOf(at), at),
    });
    const found = places.length === 0 ? [] : await coordinator.committed(places);
    const committed = found.map((at) => ({ ...at, note: ownNote(at.note, clusterId) }));
    const begin = { cluster, directory, committed, config, losses, reached, firstLook, book };
    const positions = new Positions(places, begin, ending.signal);
    const takings = new Takings({ ...parts, directory, positions }, ending.signal);
    const reading = new PartitionReading({ ...parts, directory, positions, places, takings });
    const commit = () => book.commit(late.signal);
    const committing = commitAtTimes(commit, config.commit_interval, ending.signal);
    try {
      await reading.run(ending.signal);
    } finally {
      ending.abort();
      await Promise.all([positions.end(), committing]);
    }
    // The next membership reads again what was not committed; that it waits for its coordinator, or looks for a topic, is its own matter.
    await commit().catch((error: unknown) => {
      if (!isMoving(error) && !isOfTopic(error)) throw error;
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
  readonly takings: Takings;
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
    const { places, positions, takings } = this.#parts;
    try {
      while (!signal.aborted) {
        await takings.room();
        await positions.lead();
        if (signal.aborted) return;
        const readable = positions.readable();
        this.#look();
        if (readable.length > 0 || places.length === 0) this.#begun();
        if (places.length === 0) return await aborted(signal);
        if (readable.length === 0) continue;
        const waitMillis = this.#isStanding ? LOOK_MILLIS : WAIT_MILLIS;
        // What is read beside records that are held may be held, too, in each of the partitions.
        const bytes = takings.isHolding ? READ_BYTES / places.length : READ_BYTES;
        const fetched = await this.#reader.read(readable, { bytes, waitMillis, signal });
        await Promise.all(fetched.map((one) => takings.take(one)));
      }
    } finally {
      this.#reader.cancel();
    }
  }

  /** Whether a partition is not read now: how long that lasts is looked at. */
  get #isStanding(): boolean {
    const { places, positions } = this.#parts;
    return places.some((place) => !positions.isReadable(place) || this.#reader.unreadableOf(place) !== undefined);
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
    if (!isRead) return positions.isPut(place) ? "moving" : undefined;
    const unreadable = this.#reader.unreadableOf(place);
    if (unreadable !== undefined) return { topic, partition, cause: "unreadable", reason: unreadable.message };
    const isHeldBack = this.#reader.isHeldBack(place);
    if (isHeldBack === true) return { topic, partition, cause: "open-transaction", offset: at.offset };
    return isHeldBack === undefined ? undefined : "moving";
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
