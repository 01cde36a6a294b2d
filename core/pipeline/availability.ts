import type { Logger } from "../sdk/index.js";

/** Milliseconds without a refusal. */
const QUIET = 10_000;

/** Logs when a source that answered 503 accepts again. */
export class Availability {
  readonly #parts: { readonly log: Logger; now(): Date };
  /** When a request was last refused, and how many since the first. */
  #refused: { readonly at: number; readonly count: number } | undefined;

  constructor(parts: { readonly log: Logger; now(): Date }) {
    this.#parts = parts;
  }

  refused(): void {
    this.#refused = { at: this.#parts.now().getTime(), count: (this.#refused?.count ?? 0) + 1 };
  }

  /** A full channel accepts and refuses in turn: the overload is over when nothing was refused for a while. */
  accepted(): void {
    if (this.#refused === undefined) return;
    const { at, count } = this.#refused;
    if (Math.abs(this.#parts.now().getTime() - at) < QUIET) return;
    this.#refused = undefined;
    this.#parts.log.info({ refused: count }, "requests are accepted again");
  }
}
