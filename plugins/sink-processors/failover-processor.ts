import type { Context, SinkProcessor } from "deneb/sdk";
import type { FailoverConfig } from "./config.js";
import { Penalties } from "./penalties.js";

/** The sink of the highest priority, and while that one fails the next. */
export class FailoverProcessor implements SinkProcessor {
  readonly #priority: ReadonlyMap<string, number>;
  readonly #penalties: Penalties;

  constructor({ priority, maxpenalty }: FailoverConfig, clock: Pick<Context, "now">) {
    this.#priority = new Map(Object.entries(priority).map(([sink, number]) => [sink, Number(number)]));
    this.#penalties = new Penalties({ longest: maxpenalty, now: () => clock.now() });
  }

  order(sinks: readonly string[]): readonly string[] {
    const priority = (sink: string) => this.#priority.get(sink) ?? Number.MIN_SAFE_INTEGER;
    return this.#penalties.last(sinks.toSorted((a, b) => priority(b) - priority(a)));
  }

  succeeded(sink: string): void {
    this.#penalties.succeeded(sink);
  }

  failed(sink: string): void {
    this.#penalties.failed(sink);
  }
}
