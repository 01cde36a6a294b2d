import type { KafkaCluster } from "./cluster.js";
import type { Directory, Place } from "./directory.js";
import { KafkaError, kafkaErrorOf } from "./kafka-error.js";
import type { Identity, Message } from "./outgoing.js";
import { ProduceLane } from "./produce-lane.js";
import { ProducerIdentities } from "./producer-identities.js";

/** Sequences are numbers of 31 bits and begin again with 0. */
const SEQUENCES = 2 ** 31;
/** What the bytes of a message are at the least, with its lengths. */
const MESSAGE_BYTES = 64;
/** The broker knows nothing of this identity, or not what it should: nothing was written, and another identity may write it. */
const forgotten: readonly string[] = ["OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID", "INVALID_PRODUCER_EPOCH"];

/** A broker answers this before it writes; others also after that, as when it is no longer the leader. */
const unwritten: readonly string[] = ["NOT_ENOUGH_REPLICAS", "UNKNOWN_TOPIC_OR_PARTITION", "KAFKA_STORAGE_ERROR"];

interface Progress {
  identity: Identity | undefined;
  sequence: number;
  /** The name of the messages with this number. */
  name: string | undefined;
  /** True when a broker may have written them. */
  mayBeWritten: boolean;
}

interface Writing {
  readonly place: Place;
  readonly messages: readonly Message[];
  readonly bytes: number;
}

/**
 * Writes messages so that each stands in its partition once, however often a request is repeated: the brokers know the
 * identity of the producer and the number of each message. Nobody else writes to a partition through the same producer while
 * a write to it is under way.
 */
export class Producer {
  readonly #cluster: KafkaCluster;
  readonly #directory: Directory;
  readonly #identities: ProducerIdentities;
  readonly #lanes = new Map<number, ProduceLane>();
  readonly #progress = new Map<string, Progress>();
  /** The newest; partitions that began with an older one keep it. */
  #identity: Identity | undefined;
  #asking: Promise<Identity> | undefined;

  /** Whoever writes to the same topics again gives the same `identities`. */
  constructor(cluster: KafkaCluster, directory: Directory, identities = new ProducerIdentities(cluster)) {
    this.#cluster = cluster;
    this.#directory = directory;
    this.#identities = identities;
  }

  /**
   * Resolves with the offset of the first message when all replicas in sync have the messages. Rejects with a KafkaError;
   * of kind `unavailable` it does not say whether they were written. Those that have a name can be written again under it when the
   * error `isUnanswered`, as long as nothing else was written to the partition.
   */
  async write(place: Place, messages: readonly Message[], name?: string): Promise<number> {
    const progress = this.#progressOf(place, name);
    const end = performance.now() + this.#cluster.callMillis;
    const writing = { place, messages, bytes: weightOf(messages) };
    let told: KafkaError | undefined;
    for (;;) {
      try {
        return await this.#try(writing, progress, end);
      } catch (error) {
        const failure = kafkaErrorOf(error, `writing to topic "${place.topic}"`);
        if (saysWhy(failure)) told = failure;
        const over = await this.#mayTryAgain(failure, progress, end);
        if (over !== undefined) throw this.#failure(over === failure ? (told ?? failure) : over, progress);
      }
    }
  }

  async #try({ place, messages, bytes }: Writing, progress: Progress, end: number): Promise<number> {
    const identity = progress.identity ?? (await this.#newIdentity());
    progress.identity = identity;
    const { topic, partition } = place;
    const { sequence } = progress;
    let isSent = false;
    const leaves = () => {
      isSent = true;
    };
    try {
      const lane = this.#lane(this.#directory.leader(place));
      const offset = await lane.send({ topic, partition, messages, bytes, identity, sequence, leaves }, end);
      progress.sequence = (sequence + messages.length) % SEQUENCES;
      progress.mayBeWritten = false;
      return offset;
    } catch (error) {
      const failure = kafkaErrorOf(error, "writing");
      if (isSent && isPassing(failure) && !unwritten.includes(failure.id)) progress.mayBeWritten = true;
      throw error;
    }
  }

  /** What to tell of messages that are not known to be written. */
  #failure(error: KafkaError, progress: Progress): KafkaError {
    const { kind, message, id } = error;
    // Nobody reads a topic that is gone.
    if (progress.mayBeWritten && progress.name !== undefined && kind !== "settings")
      return new KafkaError(kind, message, { id, cause: error, isUnanswered: true });
    this.#forget(progress);
    return error;
  }

  /** Undefined to try again, or the error with which to end. */
  async #mayTryAgain(failure: KafkaError, progress: Progress, end: number): Promise<KafkaError | undefined> {
    if (forgotten.includes(failure.id)) this.#forget(progress);
    else if (!isPassing(failure)) return failure;
    if (this.#cluster.closing.aborted) return failure;
    await this.#cluster.pause();
    if (performance.now() >= end) return failure;
    try {
      await this.#directory.refresh();
    } catch (error) {
      const other = kafkaErrorOf(error, "reading the metadata");
      if (!isPassing(other)) return other;
    }
    return performance.now() >= end ? failure : undefined;
  }

  /** No partition comes back to an identity that it had. */
  #forget(progress: Progress): void {
    if (this.#identity === progress.identity) this.#identity = undefined;
    progress.identity = undefined;
    progress.sequence = 0;
    progress.mayBeWritten = false;
  }

  async #newIdentity(): Promise<Identity> {
    if (this.#identity !== undefined) return this.#identity;
    this.#asking ??= this.#identities.next().finally(() => {
      this.#asking = undefined;
    });
    this.#identity = await this.#asking;
    return this.#identity;
  }

  #progressOf({ topic, partition }: Place, name: string | undefined): Progress {
    const key = `${topic}:${partition}`;
    const known = this.#progress.get(key) ?? { identity: undefined, sequence: 0, name, mayBeWritten: false };
    this.#progress.set(key, known);
    // Whether another one was written is not known: this one must not have its number.
    if (known.mayBeWritten && known.name !== name) this.#forget(known);
    known.name = name;
    return known;
  }

  #lane(node: number): ProduceLane {
    const known = this.#lanes.get(node);
    if (known !== undefined) return known;
    const lane = new ProduceLane(this.#cluster, node);
    this.#lanes.set(node, lane);
    return lane;
  }
}

/** That a broker said nothing in what was left of the time explains less than what one said before. */
function saysWhy(failure: KafkaError): boolean {
  return failure.id !== "" || !isPassing(failure);
}

function isPassing({ kind }: KafkaError): boolean {
  return kind === "unavailable" || kind === "full";
}

function weightOf(messages: readonly Message[]): number {
  let bytes = 0;
  for (const { key, value, headers } of messages) {
    bytes += MESSAGE_BYTES + (key?.length ?? 0) + value.length;
    for (const [name, content] of headers ?? []) bytes += name.length + content.length;
  }
  return bytes;
}
