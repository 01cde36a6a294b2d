import type { Exchange } from "./exchange.js";

type Acceptable = Pick<Exchange, "accept">;

/**
 * Tells senders that the channels have their events, those of one turn of the event loop together: a sender that sleeps
 * is woken by the first of them and works while the others are written (measured: docs/performance.md).
 */
export class Acceptances<Accepted extends Acceptable = Exchange> {
  readonly #failed: (accepted: Accepted, error: unknown) => void;
  #waiting: Accepted[] = [];

  /** `failed` is told of an answer that could not be written; the others are written all the same. */
  constructor(failed: (accepted: Accepted, error: unknown) => void) {
    this.#failed = failed;
  }

  add(accepted: Accepted): void {
    this.#waiting.push(accepted);
    if (this.#waiting.length === 1) setImmediate(this.#write);
  }

  readonly #write = (): void => {
    const all = this.#waiting;
    this.#waiting = [];
    for (const accepted of all) {
      try {
        accepted.accept();
      } catch (error) {
        this.#failed(accepted, error);
      }
    }
  };
}
