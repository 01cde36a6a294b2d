import { Counter, type Registry } from "prom-client";
import type { TransactionObserver } from "../tokens.js";

/** Most pairs of status and cause of one source that are counted by themselves. */
const MOST_CAUSES = 100;

/** Refusals that any source can make; they are there, with 0, before the first of them. */
const usual = [
  { status: 413, cause: "notification-too-large" },
  { status: 500, cause: "internal-error" },
  { status: 500, cause: "handler-failed" },
  { status: 503, cause: "channel-full" },
] as const;

interface Tally {
  readonly status: number;
  readonly cause: string;
  count: number;
}

/** Counts what sources refused, by status and cause. The counter only grows, also when a source is replaced. */
export class RefusalInstruments implements TransactionObserver {
  /** The names of the sources that there are. */
  sources: () => readonly string[] = () => [];
  readonly #tallies = new Map<string, Map<string, Tally>>();

  constructor(registry: Registry) {
    const tallies = () => this.#counted();
    new Counter({
      name: "deneb_source_refused_total",
      help: "Requests that a source refused.",
      labelNames: ["source", "status", "cause"],
      registers: [registry],
      collect() {
        this.reset();
        for (const { source, status, cause, count } of tallies()) this.inc({ source, status, cause }, count);
      },
    });
  }

  received(): void {}

  attempted(): void {}

  givenUp(): void {}

  refused(source: string, refusal: { readonly status: number; readonly cause: string }): void {
    const tallies = this.#of(source);
    const key = keyOf(refusal);
    const isNew = !tallies.has(key);
    const { status, cause } = isNew && tallies.size >= MOST_CAUSES ? { status: 0, cause: "other" } : refusal;
    const tally = tallies.get(keyOf({ status, cause })) ?? { status, cause, count: 0 };
    tally.count += 1;
    tallies.set(keyOf(tally), tally);
  }

  #of(source: string): Map<string, Tally> {
    const known = this.#tallies.get(source);
    if (known !== undefined) return known;
    const tallies = new Map(usual.map((one) => [keyOf(one), { ...one, count: 0 }]));
    this.#tallies.set(source, tallies);
    return tallies;
  }

  #counted() {
    for (const source of this.sources()) this.#of(source);
    return [...this.#tallies].flatMap(([source, tallies]) =>
      [...tallies.values()].map((tally) => ({ source, ...tally })),
    );
  }
}

function keyOf({ status, cause }: { readonly status: number; readonly cause: string }): string {
  return `${status} ${cause}`;
}
