import { setImmediate as nextTurn } from "node:timers/promises";
import type { MessageRecord } from "@platformatic/kafka";
import type { KafkaCluster } from "./cluster.js";
import type { Place } from "./directory.js";
import { KafkaError, protocolError } from "./kafka-error.js";

const ALL_REPLICAS = -1;
const NO_ERROR = 0;
/** Bytes of one request: brokers refuse more than socket.request.max.bytes, 100 MB where nobody changed it. */
const LARGEST_REQUEST = 16 * 1024 * 1024;

/** Requests that are on their way to a broker at the same time: it works on one while the next one is made. */
const MOST_ON_THE_WAY = 2;
/** The part of the time of an attempt after which the broker says that other replicas did not confirm. */
const BROKER_SHARE = 0.8;

/** Who writes; brokers drop what comes again with the same sequence. */
export interface Identity {
  readonly producerId: bigint;
  readonly producerEpoch: number;
}

/** A message of a topic: key and headers are absent or given. */
export type Message = Pick<MessageRecord, "key" | "value" | "headers" | "timestamp">;

export interface Outgoing extends Place {
  /** Messages that stand one after another in the partition. */
  readonly messages: readonly Message[];
  readonly bytes: number;
  readonly identity: Identity;
  /** The number of the first message among those of this identity in this partition. */
  readonly sequence: number;
}

interface Waiting {
  readonly outgoing: Outgoing;
  /** The time of `performance.now()` after which it is of no use. */
  readonly end: number;
  readonly resolve: (offset: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Sends what is for one broker: what comes while requests are on their way goes with the next one. */
export class ProduceLane {
  readonly #cluster: KafkaCluster;
  readonly #node: number;
  #waiting: Waiting[] = [];
  #onTheWay = 0;

  constructor(cluster: KafkaCluster, node: number) {
    this.#cluster = cluster;
    this.#node = node;
  }

  /** Resolves with the offset of the first message, when all replicas in sync have them. */
  async send(outgoing: Outgoing, end: number): Promise<number> {
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ outgoing, end, resolve, reject });
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    if (this.#onTheWay >= MOST_ON_THE_WAY) return;
    this.#onTheWay += 1;
    // What comes in the same turn shares the request: the records that follow those of an answer come one after another.
    await nextTurn();
    while (this.#waiting.length > 0) {
      const batch = this.#next();
      try {
        await this.#send(batch);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#onTheWay -= 1;
  }

  /** What fits into one request: of one identity, and one for each partition. */
  #next(): readonly Waiting[] {
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    const taken = new Set<string>();
    let bytes = 0;
    for (const waiting of this.#waiting) {
      const { outgoing } = waiting;
      const key = keyOf(outgoing);
      const fits =
        batch.length === 0 ||
        (outgoing.identity === batch[0]?.outgoing.identity &&
          !taken.has(key) &&
          bytes + outgoing.bytes <= LARGEST_REQUEST);
      if (!fits) rest.push(waiting);
      else {
        batch.push(waiting);
        taken.add(key);
        bytes += outgoing.bytes;
      }
    }
    this.#waiting = rest;
    return batch;
  }

  async #send(batch: readonly Waiting[]): Promise<void> {
    const identity = batch[0]?.outgoing.identity;
    const left = Math.min(...batch.map(({ end }) => end)) - performance.now();
    const millis = Math.ceil(Math.max(1, Math.min(left, this.#cluster.attemptMillis)));
    const waitMillis = Math.ceil(millis * BROKER_SHARE);
    const { library } = this.#cluster;
    const sequences = new library.NumericMap(batch.map(({ outgoing }) => [keyOf(outgoing), outgoing.sequence]));
    const messages = batch.flatMap(({ outgoing: { topic, partition, messages: own } }) =>
      own.map((message) => ({ ...message, topic, partition })),
    );
    const answer = await this.#cluster.askNode(
      this.#node,
      async (connection) =>
        await library.produceV9.api.async(connection, ALL_REPLICAS, waitMillis, messages, { ...identity, sequences }),
      { purpose: "produce", millis },
    );
    if (typeof answer === "boolean") throw new KafkaError("unavailable", "the broker did not say what it wrote");
    const results = new Map(
      answer.responses.flatMap(({ name, partitionResponses }) =>
        partitionResponses.map((result) => [keyOf({ topic: name, partition: result.index }), result] as const),
      ),
    );
    for (const { outgoing, resolve, reject } of batch) {
      const { topic, partition } = outgoing;
      const doing = `writing to partition ${partition} of topic "${topic}"`;
      const result = results.get(keyOf(outgoing));
      if (result === undefined)
        reject(new KafkaError("unavailable", `${doing}: the broker did not say what became of it`));
      else if (result.errorCode === NO_ERROR) resolve(Number(result.baseOffset));
      else reject(protocolError(library, result.errorCode, doing, result.errorMessage));
    }
  }
}

function keyOf({ topic, partition }: Place): string {
  return `${topic}:${partition}`;
}
