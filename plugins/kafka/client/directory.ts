import type { KafkaCluster } from "./cluster.js";
import { KafkaError } from "./kafka-error.js";
import { type Metadata, readMetadata, type Topic, type TopicPartition } from "./topics.js";

/** A partition of a topic. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
}

/** Of a {@link KafkaError}: a topic is another one under the same name. */
export const REMADE = "INCONSISTENT_TOPIC_ID";

/** Who leads the partitions of some topics. A topic that is made again under its name is not the one that was opened. */
export class Directory {
  readonly #cluster: KafkaCluster;
  #known: Metadata;
  #reading: Promise<void> | undefined;
  /** Brokers write to a topic by its name, so nobody is to be asked any more. */
  #remade: KafkaError | undefined;

  constructor(cluster: KafkaCluster, opened: Metadata) {
    this.#cluster = cluster;
    this.#known = opened;
  }

  topic(name: string): Topic {
    const topic = this.#known.topics.get(name);
    if (topic === undefined) throw new KafkaError("settings", `topic "${name}" is not open`);
    return topic;
  }

  /** The broker that leads a partition. Throws when none does now, and when the topic is another one. */
  leader({ topic, partition }: Place): number {
    if (this.#remade !== undefined) throw this.#remade;
    const leader = this.presentLeader({ topic, partition });
    if (leader !== undefined && this.#known.brokers.has(leader)) return leader;
    throw new KafkaError("unavailable", `partition ${partition} of topic "${topic}" has no leader`);
  }

  /** Whether a broker that can be asked leads a partition, as far as is known. */
  hasLeader(place: Place): boolean {
    const leader = this.presentLeader(place);
    return leader !== undefined && this.#known.brokers.has(leader);
  }

  /** The broker that leads a partition now, as far as is known; undefined for none. */
  presentLeader({ topic, partition }: Place): number | undefined {
    const leader = this.topic(topic).partitions[partition]?.leader ?? -1;
    return leader < 0 ? undefined : leader;
  }

  /** Grows with each change of the leader of a partition. */
  epoch({ topic, partition }: Place): number {
    return this.topic(topic).partitions[partition]?.epoch ?? -1;
  }

  /** Groups places by the broker that leads them; those without are left out. */
  byLeader<P extends Place>(places: Iterable<P>): ReadonlyMap<number, readonly P[]> {
    const groups = new Map<number, P[]>();
    for (const place of places) {
      const leader = this.presentLeader(place);
      if (leader === undefined) continue;
      const group = groups.get(leader);
      if (group === undefined) groups.set(leader, [place]);
      else group.push(place);
    }
    return groups;
  }

  /** Asks the brokers again, another one than the last time; calls at the same time share one answer. */
  async refresh(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { topics } = this.#known;
    const fresh = await readMetadata(this.#cluster, [...topics.keys()], { another: true });
    const newest = new Map<string, Topic>();
    for (const { name, id, partitions } of topics.values()) {
      const now = fresh.topics.get(name);
      if (now === undefined)
        throw fresh.faults.get(name) ?? new KafkaError("unavailable", `topic "${name}" is not there`);
      if (now.id !== id) {
        const reason = `topic "${name}" was removed and made again while it was in use`;
        this.#remade = new KafkaError("settings", reason, { id: REMADE });
        throw this.#remade;
      }
      newest.set(name, { ...now, partitions: newer(partitions, now.partitions) });
    }
    this.#known = { ...fresh, topics: newest };
  }
}

/** A broker that is behind, or cut off from the others, names earlier leaders. */
function newer(known: readonly TopicPartition[], said: readonly TopicPartition[]): readonly TopicPartition[] {
  const before = new Map(known.map((partition) => [partition.index, partition]));
  return said.map((partition) => {
    const other = before.get(partition.index);
    return other !== undefined && other.epoch > partition.epoch ? other : partition;
  });
}
