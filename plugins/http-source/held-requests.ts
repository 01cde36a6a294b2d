import type { HttpRequest } from "./http-request.js";

/** Milliseconds that requests wait while their source is replaced. */
const MOST_MILLIS = 10_000;

/** Requests that arrive while their source is replaced. */
export class HeldRequests {
  readonly #refuse: (request: HttpRequest) => void;
  readonly #timer: NodeJS.Timeout;
  #waiting: HttpRequest[] = [];
  #isOver = false;

  /** `refuse` gets those that waited too long, and those that arrive later. */
  constructor(refuse: (request: HttpRequest) => void, mostMillis = MOST_MILLIS) {
    this.#refuse = refuse;
    this.#timer = setTimeout(() => this.end(), mostMillis).unref();
  }

  add(request: HttpRequest): void {
    if (this.#isOver) this.#refuse(request);
    else this.#waiting.push(request);
  }

  /** Refuses all, and those that still arrive. */
  end(): void {
    this.#isOver = true;
    for (const request of this.#taken()) this.#refuse(request);
  }

  /** Returns those whose senders still wait, in the order of arrival. */
  released(): readonly HttpRequest[] {
    return this.#taken().filter(({ isGone }) => !isGone);
  }

  #taken(): readonly HttpRequest[] {
    clearTimeout(this.#timer);
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }
}
