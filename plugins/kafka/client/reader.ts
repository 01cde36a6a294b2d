import { onAbort } from "deneb/sdk";
import type { KafkaCluster } from "./cluster.js";
import type { Directory } from "./directory.js";
import type { Fetched } from "./fetching.js";
import { kafkaErrorOf } from "./kafka-error.js";
import { MovedPositions } from "./moved-positions.js";
import { type Position, readExtents } from "./offsets.js";
import { type FetchAnswer, PendingFetches } from "./pending-fetches.js";

/** How often partitions that nobody leads are looked for. */
const LOOK_MILLIS = 1000;

export interface ReaderLimits {
  readonly bytes: number;
  readonly waitMillis: number;
  readonly signal: AbortSignal;
}

/** Reads partitions of all brokers; one read at a time. A broker that has nothing yet is waited for by the next read too. */
export class Reader {
  readonly #cluster: KafkaCluster;
  readonly #directory: Directory;
  readonly #pending: PendingFetches;
  readonly #moved = new MovedPositions();
  /** Behind the partition that had something last: the next read begins there, so that none waits for the others. */
  #turn = 0;
  #failure: unknown;

  /** Reads of one purpose share connections, and are in the names of none else. */
  constructor(cluster: KafkaCluster, directory: Directory, purpose: string) {
    this.#cluster = cluster;
    this.#directory = directory;
    this.#pending = new PendingFetches(cluster, directory, purpose);
  }

  /**
   * What these positions have next; empty when there is nothing in time or the signal aborts. Rejects with a KafkaError when
   * brokers do not answer.
   */
  async read(positions: readonly Position[], limits: ReaderLimits): Promise<readonly Fetched[]> {
    const { waitMillis, signal } = limits;
    const end = performance.now() + waitMillis;
    while (!signal.aborted) {
      const fetched = await this.#step(positions, limits, end);
      if (signal.aborted) break;
      if (fetched.length > 0) {
        const last = fetched.at(-1);
        this.#turn = 1 + positions.findIndex((at) => at.topic === last?.topic && at.partition === last.partition);
        return fetched;
      }
      if (performance.now() < end) continue;
      if (this.#failure !== undefined) throw kafkaErrorOf(this.#failure, "reading");
      return [];
    }
    this.cancel();
    return [];
  }

  /** Ends what brokers are asked for. */
  cancel(): void {
    this.#pending.cancel();
  }

  async #step(
    positions: readonly Position[],
    { bytes, signal }: ReaderLimits,
    end: number,
  ): Promise<readonly Fetched[]> {
    const left = Math.max(0, Math.ceil(end - performance.now()));
    const turned = [...positions.slice(this.#turn), ...positions.slice(0, this.#turn)];
    const asked = this.#pending.ask(this.#moved.apply(turned), bytes, left);
    const all = asked === positions.length;
    const answer = await this.#pending.next(all ? left : Math.min(left, LOOK_MILLIS), signal);
    if (answer !== undefined) return await this.#take(answer, signal);
    if (!all && !signal.aborted) await this.#lookAgain(signal);
    return [];
  }

  async #take(answer: FetchAnswer, signal: AbortSignal): Promise<readonly Fetched[]> {
    if ("error" in answer) {
      const error = kafkaErrorOf(answer.error, "reading");
      if (this.#cluster.closing.aborted || (error.kind !== "unavailable" && error.kind !== "full")) throw error;
      this.#failure = error;
      await this.#lookAgain(signal);
      return [];
    }
    const { fetched, outside, stale } = answer.outcome;
    this.#failure = undefined;
    if (outside.length > 0) await unlessAborted(this.#move(outside), signal);
    if (fetched.length === 0 && stale) await this.#lookAgain(signal);
    return fetched;
  }

  /** Brokers went away or partitions moved: where are they now. */
  async #lookAgain(signal: AbortSignal): Promise<void> {
    await this.#cluster.pause();
    if (signal.aborted) return;
    try {
      await unlessAborted(this.#directory.refresh(), signal);
    } catch (error) {
      const failure = kafkaErrorOf(error, "reading the metadata");
      if (failure.kind !== "unavailable" && failure.kind !== "full") throw failure;
    }
  }

  /** Where reading goes on when the records of a position were removed. */
  async #move(outside: readonly Position[]): Promise<void> {
    this.#moved.note(outside, await readExtents(this.#cluster, this.#directory, outside));
  }
}

/** Waits until the signal aborts at the longest; what was waited for goes on. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let stop = () => {};
  const aborted = new Promise<void>((resolve) => {
    stop = onAbort(signal, resolve);
  });
  work.catch(() => undefined);
  try {
    await Promise.race([work, aborted]);
  } finally {
    stop();
  }
}
