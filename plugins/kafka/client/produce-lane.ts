import type { Connection, produceV9 } from "@platformatic/kafka";
import type { KafkaCluster } from "./cluster.js";
import type { Place } from "./directory.js";
import { KafkaError, protocolError } from "./kafka-error.js";
import type { Library } from "./library.js";
import type { Outgoing } from "./outgoing.js";
import { produceRequest } from "./produce-request.js";

const NO_ERROR = 0;
/** Bytes of one request: brokers refuse more than socket.request.max.bytes, 100 MB where nobody changed it. */
const LARGEST_REQUEST = 16 * 1024 * 1024;

/** Requests that are on their way to a broker at the same time: it works on one while the next one is made. */
const MOST_ON_THE_WAY = 2;
/** The part of the time of an attempt after which the broker says that other replicas did not confirm. */
const BROKER_SHARE = 0.8;

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
  send(outgoing: Outgoing, end: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ outgoing, end, resolve, reject });
      if (this.#onTheWay < MOST_ON_THE_WAY) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#onTheWay += 1;
    // What comes of the same cause shares the request: the records that follow those of an answer come one after another.
    await new Promise<void>((resolve) => process.nextTick(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#next();
      try {
        await this.#send(batch);
      } catch (error) {
        for (const { reject } of batch.values()) reject(error);
      }
    }
    this.#onTheWay -= 1;
  }

  /** What fits into one request: of one identity, and one for each partition. */
  #next(): ReadonlyMap<string, Waiting> {
    const batch = new Map<string, Waiting>();
    const rest: Waiting[] = [];
    const identity = this.#waiting[0]?.outgoing.identity;
    let bytes = 0;
    for (const waiting of this.#waiting) {
      const { outgoing } = waiting;
      const key = keyOf(outgoing);
      const fits = outgoing.identity === identity && !batch.has(key) && bytes + outgoing.bytes <= LARGEST_REQUEST;
      if (batch.size > 0 && !fits) rest.push(waiting);
      else {
        batch.set(key, waiting);
        bytes += outgoing.bytes;
      }
    }
    this.#waiting = rest;
    return batch;
  }

  async #send(batch: ReadonlyMap<string, Waiting>): Promise<void> {
    const answer = await this.#ask([...batch.values()]);
    const left = new Map(batch);
    for (const { name, partitionResponses } of answer.responses)
      for (const { index, errorCode, errorMessage, baseOffset } of partitionResponses) {
        const key = keyOf({ topic: name, partition: index });
        const waiting = left.get(key);
        left.delete(key);
        if (errorCode === NO_ERROR) waiting?.resolve(Number(baseOffset));
        else waiting?.reject(protocolError(this.#cluster.library, errorCode, doing(waiting.outgoing), errorMessage));
      }
    for (const { outgoing, reject } of left.values())
      reject(new KafkaError("unavailable", `${doing(outgoing)}: the broker did not say what became of it`));
  }

  async #ask(batch: readonly Waiting[]): Promise<produceV9.ProduceResponse> {
    const [first] = batch;
    if (first === undefined) return { responses: [], throttleTimeMs: 0 };
    const left = Math.min(...batch.map(({ end }) => end)) - performance.now();
    const millis = Math.ceil(Math.max(1, Math.min(left, this.#cluster.attemptMillis)));
    const request = {
      batch: batch.map(({ outgoing }) => outgoing),
      identity: first.outgoing.identity,
      waitMillis: Math.ceil(millis * BROKER_SHARE),
      now: Date.now(),
    };
    const send = (connection: Connection, library: Library) =>
      new Promise<produceV9.ProduceResponse>((resolve, reject) => {
        for (const { outgoing } of batch) outgoing.leaves?.();
        const checksum = (bytes: Buffer) => library.crc32c(library.Writer.create().append(bytes).dynamicBuffer);
        const { api, parseResponse } = library.produceV9;
        const made = () => library.Writer.create().append(produceRequest({ ...request, checksum }));
        connection.send(api.key, api.version, made, parseResponse, true, true, (error, answer) =>
          answer === undefined ? reject(error ?? silent()) : resolve(answer),
        );
      });
    return await this.#cluster.askNode(this.#node, send, { purpose: "produce", millis });
  }
}

function silent(): KafkaError {
  return new KafkaError("unavailable", "the broker did not say what it wrote");
}

function doing({ topic, partition }: Place): string {
  return `writing to partition ${partition} of topic "${topic}"`;
}

function keyOf({ topic, partition }: Place): string {
  return `${topic}:${partition}`;
}
