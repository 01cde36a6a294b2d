import { onAbort } from "deneb/sdk";
import type { KafkaCluster } from "./cluster.js";
import type { Directory, Place } from "./directory.js";
import { FetchFailures } from "./fetch-failures.js";
import type { Fetched, FetchOutcome } from "./fetching.js";
import { type KafkaError, kafkaErrorOf } from "./kafka-error.js";
import { MovedPositions } from "./moved-positions.js";
import { extentsAt, type Position } from "./offsets.js";
import { type FetchAnswer, PendingFetches, type ReadingAs } from "./pending-fetches.js";
import { UnreadablePositions } from "./unreadable-positions.js";

/** How often partitions that nobody leads are looked for. */
const LOOK_MILLIS = 1000;

interface ReaderLimits {
  readonly bytes: number;
  readonly waitMillis: number;
  readonly signal: AbortSignal;
}

interface ReaderOptions extends ReadingAs {
  /** Milliseconds for which one broker may be silent, while others answer, before a read fails. */
  readonly bearableMillis: number;
  /** Where records that cannot be decoded fail no read: whoever reads asks {@link Reader.unreadableOf}. */
  readonly bearsUnreadable?: true;
}

/** Reads partitions of all brokers; one read at a time. A broker that has nothing yet is waited for by the next read too. */
export class Reader {
  readonly #cluster: KafkaCluster;
  readonly #directory: Directory;
  readonly #pending: PendingFetches;
  readonly #moved = new MovedPositions();
  readonly #unreadable = new UnreadablePositions();
  readonly #bearsUnreadable: boolean;
  /** Behind the partition that had something last: the next read begins there, so that none waits for the others. */
  #turn = 0;
  readonly #failures: FetchFailures;
  /** Of positions that were answered for last, whether a transaction that goes on holds back what is there. */
  readonly #heldBack = new Map<string, boolean>();
  /** Looks where partitions are that are not read, while reading goes on. */
  #looking: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(cluster: KafkaCluster, directory: Directory, options: ReaderOptions) {
    this.#cluster = cluster;
    this.#directory = directory;
    this.#pending = new PendingFetches(cluster, directory, options);
    this.#failures = new FetchFailures(options.bearableMillis);
    this.#bearsUnreadable = options.bearsUnreadable === true;
  }

  /** Why a broker does not answer; undefined where it does, or was not asked. */
  failureOf(node: number): KafkaError | undefined {
    return this.#failures.of(node);
  }

  /** Why records that are there cannot be decoded; undefined where they can. */
  unreadableOf(place: Place): KafkaError | undefined {
    return this.#unreadable.of(place);
  }

  /** Whether records are there that a transaction that goes on holds back; undefined where no broker has said it. */
  isHeldBack(place: Place): boolean | undefined {
    return this.#heldBack.get(keyOf(place));
  }

  /**
   * What these positions have next; empty when there is nothing in time, one that says the epoch of its leader gets another one, or the
   * signal aborts. Rejects with a KafkaError when
   * no broker answers in time, one of them has not for longer than is bearable (until then its partitions may move to another one), or
   * there is nothing but records that cannot be decoded.
   */
  async read(positions: readonly Position[], limits: ReaderLimits): Promise<readonly Fetched[]> {
    const { waitMillis, signal } = limits;
    const end = performance.now() + waitMillis;
    const epochs = this.#epochsOf(positions);
    this.#failures.keep([...this.#directory.byLeader(positions).keys()]);
    while (!signal.aborted) {
      const fetched = await this.#step(positions, limits, end);
      if (signal.aborted) break;
      if (fetched.length > 0) {
        const last = fetched.at(-1);
        this.#turn = 1 + positions.findIndex((at) => at.topic === last?.topic && at.partition === last.partition);
        return fetched;
      }
      if (epochs !== this.#epochsOf(positions)) return [];
      if (performance.now() < end) continue;
      const failure = this.#failureOf(positions);
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

  /** Why nothing was read of these positions in time; undefined where nothing is wrong. */
  #failureOf(positions: readonly Position[]): KafkaError | undefined {
    const failure = this.#failures.worthTelling(this.#directory.byLeader(positions).keys());
    if (failure !== undefined || this.#bearsUnreadable) return failure;
    return positions.map((position) => this.#unreadable.of(position)).find((error) => error !== undefined);
  }

  #epochsOf(positions: readonly Position[]): string {
    return positions.map((at) => (at.epoch === undefined ? "" : this.#directory.epoch(at))).join();
  }

  async #step(
    positions: readonly Position[],
    { bytes, signal }: ReaderLimits,
    end: number,
  ): Promise<readonly Fetched[]> {
    const left = Math.max(0, Math.ceil(end - performance.now()));
    const turned = [...positions.slice(this.#turn), ...positions.slice(0, this.#turn)];
    const asked = this.#pending.ask(this.#unreadable.apply(this.#moved.apply(turned)), bytes, left);
    const all = asked === positions.length;
    const answer = await this.#pending.next(all ? left : Math.min(left, LOOK_MILLIS), signal);
    // The others may have something again and again.
    if (!all || this.#pending.isSilent) this.#lookBeside();
    if (answer !== undefined) return await this.#take(answer, signal);
    if (!all && !signal.aborted) await this.#lookAgain(signal);
    return [];
  }

  async #take(answer: FetchAnswer, signal: AbortSignal): Promise<readonly Fetched[]> {
    if ("error" in answer) return await this.#failed(answer.node, answer.error, signal);
    const { fetched, outside, stale } = answer.outcome;
    this.#failures.answered(answer.node);
    this.#note(answer.outcome);
    try {
      if (outside.length > 0) await unlessAborted(this.#move(outside, answer.node), signal);
    } catch (error) {
      await this.#failed(answer.node, error, signal);
    }
    if (stale && fetched.length > 0) this.#lookBeside();
    else if (stale) await this.#lookAgain(signal);
    return fetched;
  }

  /** What the answer says of partitions. */
  #note({ fetched, empty, unreadable }: FetchOutcome): void {
    for (const position of fetched) this.#heldBack.set(keyOf(position), false);
    for (const [position, isHeldBack] of empty) this.#heldBack.set(keyOf(position), isHeldBack);
    for (const position of [...fetched, ...empty.keys()]) this.#unreadable.forget(position);
    for (const [position, error] of unreadable) this.#unreadable.note(position, error);
  }

  async #failed(node: number, thrown: unknown, signal: AbortSignal): Promise<readonly Fetched[]> {
    const error = kafkaErrorOf(thrown, "reading");
    if (this.#cluster.closing.aborted || (error.kind !== "unavailable" && error.kind !== "full")) throw error;
    this.#failures.note(node, error);
    await this.#lookAgain(signal);
    return [];
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
  async #move(outside: readonly Position[], node: number): Promise<void> {
    this.#moved.note(outside, await extentsAt(this.#cluster, { node, group: outside }));
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

function keyOf({ topic, partition }: Place): string {
  return `${topic}:${partition}`;
}
