import type { ServerResponse } from "node:http";

// Context brokers look for this letter case and take neither 204 nor chunked for success.
const noContent = { "Content-Length": 0 } as const;

/**
 * Tells senders that the channels have their events, those of one turn of the event loop together: a sender that sleeps
 * is woken by the first of them and works while the others are written (measured: docs/performance.md).
 */
export class Acceptances {
  readonly #failed: (response: ServerResponse, error: unknown) => void;
  #waiting: ServerResponse[] = [];

  /** `failed` is told of an answer that could not be written; the others are written all the same. */
  constructor(failed: (response: ServerResponse, error: unknown) => void) {
    this.#failed = failed;
  }

  /** Returns the bytes of the content. */
  answer(response: ServerResponse): number {
    this.#waiting.push(response);
    if (this.#waiting.length === 1) setImmediate(this.#write);
    return 0;
  }

  readonly #write = (): void => {
    const responses = this.#waiting;
    this.#waiting = [];
    for (const response of responses) {
      try {
        if (!response.destroyed) response.writeHead(200, noContent).end();
      } catch (error) {
        this.#failed(response, error);
      }
    }
  };
}
