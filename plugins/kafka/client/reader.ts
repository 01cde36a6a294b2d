import { onAbort } from "deneb/sdk";
import type { KafkaCluster } from "./cluster.js";
import type { Directory } from "./directory.js";
import { FetchFailures } from "./fetch-failures.js";
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
  readonly #failures: FetchFailures;
  /** Looks where the partitions of a silent broker are, while reading goes on. */
  #looking: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** Reads of one purpose share connections, and are in the names of none else. */
  constructor(cluster: KafkaCluster, directory: Directory, purpose: string) {
    this.#cluster = cluster;
    this.#directory = directory;
    this.#pending = new PendingFetches(cluster, directory, purpose);
    this.#failures = new FetchFailures(cluster.callMillis);
  }

  /**
   * What these positions have next; empty when there is nothing in time or the signal aborts. Rejects with a KafkaError when
   * no broker answers in time, or one of them has not for the time of a call: until then its partitions may move to another one.
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
      const failure = this.#failures.worthTelling(this.#directory.byLeader(positions).keys());
      if (failure !== undefined) throw failure;
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
    if (this.#pending.isSilent) this.#lookBeside();
    if (answer !== undefined) return await this.#take(answer, signal);
    if (!all && !signal.aborted) await this.#lookAgain(signal);
    return [];
  }

  async #take(answer: FetchAnswer, signal: AbortSignal): Promise<readonly Fetched[]> {
    if ("error" in answer) {
      const error = kafkaErrorOf(answer.error, "reading");
      if (this.#cluster.closing.aborted || (error.kind !== "unavailable" && error.kind !== "full")) throw error;
      this.#failures.note(answer.node, error);
      await this.#lookAgain(signal);
      return [];
    }
    const { fetched, outside, stale } = answer.outcome;
    this.#failures.answered(answer.node);
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
      this.#failures.looked(true);
    } catch (error) {
      this.#failures.looked(false);
      const failure = kafkaErrorOf(error, "reading the metadata");
      if (failure.kind !== "unavailable" && failure.kind !== "full") throw failure;
    }
  }

  #lookBeside(): void {
    if (this.#looking !== undefined || performance.now() - this.#lookedAt < LOOK_MILLIS) return;
    this.#looking = this.#lookAgain(this.#cluster.closing)
      // The next request to a broker says what is wrong.
      .catch(() => undefined)
      .finally(() => {
        this.#looking = undefined;
        this.#lookedAt = performance.now();
      });
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
