import type { Connection } from "@platformatic/kafka";
import type { KafkaCluster } from "../client/cluster.js";
import type { Place } from "../client/directory.js";
import { KafkaError, kafkaErrorOf, protocolError } from "../client/kafka-error.js";
import type { Library } from "../client/library.js";
import { readMetadata } from "../client/topics.js";

const NO_ERROR = 0;
const OF_GROUPS = 0;

/** A coordinator that is another broker now, or not ready. */
const elsewhere: readonly string[] = ["NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"];

/** Whether it answers no more, or another broker is to be asked in a moment. */
export function isMoving(error: unknown): boolean {
  return (
    error instanceof KafkaError && error.kind === "unavailable" && (error.id === "" || elsewhere.includes(error.id))
  );
}

/** Whether a topic that was read is gone: its offsets are not kept any more. */
export function isOfTopic(error: unknown): boolean {
  return error instanceof KafkaError && error.id === "UNKNOWN_TOPIC_OR_PARTITION";
}

/** Up to where a group has read a partition. */
export interface Committed extends Place {
  readonly offset: number;
  /** Epoch of the leader whose log was read up to there; -1 where nobody said it. */
  readonly epoch: number;
  /** What was noted with it; empty for nothing. */
  readonly note: string;
}

interface Asking {
  readonly purpose?: string;
  readonly millis?: number;
  readonly signal?: AbortSignal;
}

/** The broker that keeps the members and the offsets of a group. */
export class Coordinator {
  readonly #cluster: KafkaCluster;
  readonly #group: string;
  #node: number | undefined;

  constructor(cluster: KafkaCluster, group: string) {
    this.#cluster = cluster;
    this.#group = group;
  }

  /** Asks it once; it is looked for again after a failure. */
  async ask<T>(send: (connection: Connection, library: Library) => Promise<T>, asking: Asking = {}): Promise<T> {
    this.#node ??= await this.#find(asking.signal);
    try {
      return await this.#cluster.askNode(this.#node, send, { purpose: "group", ...asking });
    } catch (error) {
      this.#node = undefined;
      throw error;
    }
  }

  /** The name of the error in an answer; undefined for none. */
  errorIn(code: number, doing: string): KafkaError | undefined {
    if (code === NO_ERROR) return undefined;
    const error = protocolError(this.#cluster.library, code, `${doing} (group "${this.#group}")`);
    if (elsewhere.includes(error.id)) this.#node = undefined;
    return error;
  }

  async #find(signal?: AbortSignal): Promise<number> {
    const doing = `finding the coordinator of group "${this.#group}"`;
    const find = async () => {
      const { coordinators } = await this.#cluster.askAny(
        async (connection, library) => await library.findCoordinatorV4.api.async(connection, OF_GROUPS, [this.#group]),
      );
      const found = coordinators[0];
      if (found === undefined) throw new KafkaError("unavailable", `${doing}: there is none`);
      if (found.errorCode !== NO_ERROR) {
        throw protocolError(this.#cluster.library, found.errorCode, doing, found.errorMessage);
      }
      // One that was away when the brokers were asked last is not known.
      if (this.#cluster.addressOf(found.nodeId) === undefined) await readMetadata(this.#cluster, []);
      if (this.#cluster.addressOf(found.nodeId) === undefined) {
        throw new KafkaError("unavailable", `${doing}: broker ${found.nodeId} is not there`);
      }
      return found.nodeId;
    };
    return await this.#cluster.persistently(doing, find, signal);
  }

  /** Up to where the group has read; partitions that it never read are left out. */
  async committed(places: readonly Place[]): Promise<readonly Committed[]> {
    const doing = `reading the offsets of group "${this.#group}"`;
    const topics = grouped(places, ({ partition }) => partition);
    return await this.#cluster.persistently(doing, async () => {
      const wanted = topics.map(([name, partitionIndexes]) => ({ name, partitionIndexes }));
      const { groups } = await this.ask(
        async (connection, library) =>
          await library.offsetFetchV8.api.async(
            connection,
            [{ groupId: this.#group, memberEpoch: -1, topics: wanted }],
            true,
          ),
      );
      const [answer] = groups;
      const failure = this.errorIn(answer?.errorCode ?? NO_ERROR, doing);
      if (failure !== undefined) throw failure;
      return (answer?.topics ?? []).flatMap(({ name: topic, partitions }) =>
        partitions.flatMap(
          ({ partitionIndex: partition, committedOffset, committedLeaderEpoch, metadata, errorCode }) => {
            const error = this.errorIn(errorCode, doing);
            if (error !== undefined) throw error;
            return committedOffset < 0
              ? []
              : [
                  {
                    topic,
                    partition,
                    offset: Number(committedOffset),
                    epoch: committedLeaderEpoch,
                    note: metadata ?? "",
                  },
                ];
          },
        ),
      );
    });
  }

  /** Notes up to where the group has read; rejects with a KafkaError of another generation when somebody else reads there now. */
  async commit(
    { generation, memberId }: { readonly generation: number; readonly memberId: string },
    offsets: readonly Committed[],
    signal: AbortSignal,
  ): Promise<void> {
    const topics = grouped(offsets, ({ partition, offset, epoch, note }) => ({
      partitionIndex: partition,
      committedOffset: BigInt(offset),
      committedLeaderEpoch: epoch,
      committedMetadata: note,
    })).map(([name, partitions]) => ({ name, partitions: [...partitions] }));
    const answer = await this.ask(
      async (connection, library) =>
        await library.offsetCommitV8.api.async(connection, this.#group, generation, memberId, null, topics),
      { signal },
    );
    for (const { errorCode } of answer.topics.flatMap(({ partitions }) => partitions)) {
      const error = this.errorIn(errorCode, "committing offsets");
      if (error !== undefined) throw kafkaErrorOf(error, "committing offsets");
    }
  }
}

function grouped<P extends Place, T>(places: readonly P[], of: (place: P) => T): readonly (readonly [string, T[]])[] {
  const topics = new Map<string, T[]>();
  for (const place of places) {
    const list = topics.get(place.topic);
    if (list === undefined) topics.set(place.topic, [of(place)]);
    else list.push(of(place));
  }
  return [...topics];
}
