import type { Context, SinkProcessor } from "deneb/sdk";
import type { LoadBalanceConfig } from "./config.js";
import { Penalties } from "./penalties.js";

/** A number from 0 up to but not including 1. */
export type Random = () => number;

/** Spreads batches over the sinks: one after the other, or at random. */
export class LoadBalanceProcessor implements SinkProcessor {
  readonly #selector: LoadBalanceConfig["selector"];
  readonly #penalties: Penalties;
  readonly #random: Random;
  #next = 0;

  constructor(config: LoadBalanceConfig, clock: Pick<Context, "now">, random: Random) {
    this.#selector = config.selector;
    const longest = config.backoff ? config["selector.maxTimeOut"] : 0;
    this.#penalties = new Penalties({ longest, now: () => clock.now() });
    this.#random = random;
  }

  order(sinks: readonly string[]): readonly string[] {
    const turned = this.#selector === "random" ? shuffled(sinks, this.#random) : this.#turned(sinks);
    return this.#penalties.last(turned);
  }

  succeeded(sink: string): void {
    this.#penalties.succeeded(sink);
  }

  failed(sink: string): void {
    this.#penalties.failed(sink);
  }

  #turned(sinks: readonly string[]): readonly string[] {
    const first = this.#next % sinks.length;
    this.#next = first + 1;
    return [...sinks.slice(first), ...sinks.slice(0, first)];
  }
}

function shuffled(sinks: readonly string[], random: Random): readonly string[] {
  const keyed = sinks.map((sink) => ({ sink, key: random() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ sink }) => sink);
}
