import type { HttpRequest } from "./http-request.js";

type Acceptable = Pick<HttpRequest, "accept">;

/**
 * Writes the responses to accepted requests, those of one turn of the event loop together: a sender that sleeps is woken
 * by the first of them and works while the others are written (measured: docs/performance.md).
 */
export class AcceptedResponses<Accepted extends Acceptable = HttpRequest> {
  readonly #failed: (accepted: Accepted, error: unknown) => void;
  #waiting: Accepted[] = [];

  /** `failed` gets a response that could not be written; the others are written nevertheless. */
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
