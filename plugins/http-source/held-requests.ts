import type { Exchange } from "./exchange.js";

/** How long requests wait for a source that is being replaced. */
const MOST_MILLIS = 10_000;

/** Requests that arrive while a source is being replaced. */
export class HeldRequests {
  readonly #refuse: (exchange: Exchange) => void;
  readonly #timer: NodeJS.Timeout;
  #waiting: Exchange[] = [];
  #isOver = false;

  /** `refuse` gets those that waited too long, and those that come after that. */
  constructor(refuse: (exchange: Exchange) => void, mostMillis = MOST_MILLIS) {
    this.#refuse = refuse;
    this.#timer = setTimeout(() => this.end(), mostMillis).unref();
  }

  add(exchange: Exchange): void {
    if (this.#isOver) this.#refuse(exchange);
    else this.#waiting.push(exchange);
  }

  /** Refuses all, and those that still come. */
  end(): void {
    this.#isOver = true;
    for (const exchange of this.#taken()) this.#refuse(exchange);
  }

  /** Gives those whose senders still wait, in the order in which they came. */
  released(): readonly Exchange[] {
    return this.#taken().filter(({ isGone }) => !isGone);
  }

  #taken(): readonly Exchange[] {
    clearTimeout(this.#timer);
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }
}
