import { onAbort } from "deneb/sdk";
import type { KafkaCluster } from "./cluster.js";
import type { Directory } from "./directory.js";
import { type FetchOutcome, fetchFrom } from "./fetching.js";
import type { Isolation, Position } from "./offsets.js";

/** How long a broker waits for records at the most before it answers that there are none. */
const LONGEST_WAIT = 5000;

/** A broker that has not answered for so long is in doubt, whoever ended the fetches meanwhile. */
const SILENT_MILLIS = LONGEST_WAIT + 1000;

export type FetchAnswer = { readonly node: number } & (
  | { readonly outcome: FetchOutcome }
  | { readonly error: unknown }
);

interface Pending {
  /** What was asked for: offsets by topic and partition. */
  readonly asked: ReadonlyMap<string, number>;
  readonly cancel: AbortController;
  readonly answer: Promise<FetchAnswer>;
}

/** For whom is read. */
export interface ReadingAs {
  /** Reads of one purpose share connections, and are in the names of none else. */
  readonly purpose: string;
  readonly isolation: Isolation;
}

/** What brokers were asked for and have not answered: one fetch for each, which goes on while its positions are still wanted. */
export class PendingFetches {
  readonly #on: { readonly cluster: KafkaCluster; readonly directory: Directory };
  readonly #as: ReadingAs;
  readonly #pending = new Map<number, Pending>();
  /** Since when a broker owes an answer, also to fetches that were ended. */
  readonly #owing = new Map<number, number>();

  constructor(cluster: KafkaCluster, directory: Directory, { purpose, isolation }: ReadingAs) {
    this.#on = { cluster, directory };
    this.#as = { purpose, isolation };
  }

  /** Asks each broker that leads some of them, unless it was asked for just that already. Returns for how many one was asked. */
  ask(positions: readonly Position[], bytes: number, waitMillis: number): number {
    const groups = this.#on.directory.byLeader(positions);
    for (const node of [...this.#pending.keys()]) if (!groups.has(node)) this.#cancel(node);
    for (const node of [...this.#owing.keys()]) if (!groups.has(node)) this.#owing.delete(node);
    let count = 0;
    for (const [node, group] of groups) {
      count += group.length;
      const asked = new Map(group.map((position) => [keyOf(position), position.offset]));
      const pending = this.#pending.get(node);
      if (pending !== undefined && same(pending.asked, asked)) continue;
      this.#cancel(node);
      const cancel = new AbortController();
      const limits = {
        ...this.#as,
        bytes: Math.max(1, Math.floor(bytes / groups.size)),
        waitMillis: Math.min(waitMillis, LONGEST_WAIT),
        signal: cancel.signal,
      };
      const answer = fetchFrom(this.#on, node, { positions: group, limits }).then(
        (outcome) => ({ node, outcome }),
        (error: unknown) => ({ node, error }),
      );
      this.#pending.set(node, { asked, cancel, answer });
      if (!this.#owing.has(node)) this.#owing.set(node, performance.now());
    }
    return count;
  }

  /** The first answer; undefined when there is none in time, or the signal aborts. */
  async next(millis: number, signal: AbortSignal): Promise<FetchAnswer | undefined> {
    const stops: (() => void)[] = [];
    const ended = new Promise<undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), millis);
      stops.push(() => clearTimeout(timer));
      for (const end of [signal, this.#on.cluster.closing]) stops.push(onAbort(end, () => resolve(undefined)));
    });
    try {
      const first = await Promise.race([...[...this.#pending.values()].map(({ answer }) => answer), ended]);
      if (first === undefined || signal.aborted) return undefined;
      this.#pending.delete(first.node);
      this.#owing.delete(first.node);
      return first;
    } finally {
      for (const stop of stops) stop();
    }
  }

  /** Whether a broker that was asked has said nothing for longer than any fetch takes. */
  get isSilent(): boolean {
    const now = performance.now();
    return [...this.#owing.values()].some((since) => now - since > SILENT_MILLIS);
  }

  /** Ends them all. */
  cancel(): void {
    for (const node of [...this.#pending.keys()]) this.#cancel(node);
  }

  #cancel(node: number): void {
    this.#pending.get(node)?.cancel.abort();
    this.#pending.delete(node);
  }
}

function keyOf({ topic, partition }: Position): string {
  return `${topic}:${partition}`;
}

function same(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): boolean {
  return one.size === other.size && [...one].every(([key, offset]) => other.get(key) === offset);
}
