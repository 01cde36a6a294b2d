import type { ServerResponse } from "node:http";

// Context brokers look for this letter case and take neither 204 nor chunked for success.
const noContent = { "Content-Length": 0 } as const;

/**
 * Tells senders that the channels have their events, those of one turn of the event loop together: a sender that sleeps
 * is woken by the first of them and works while the others are written. Waking it for each one costs more than all else
 * in an answer.
 */
export class Acceptances {
  #waiting: ServerResponse[] = [];

  /** Returns the bytes of the content. */
  answer(response: ServerResponse): number {
    this.#waiting.push(response);
    if (this.#waiting.length === 1) setImmediate(this.#write);
    return 0;
  }

  readonly #write = (): void => {
    const responses = this.#waiting;
    this.#waiting = [];
    for (const response of responses) if (!response.destroyed) response.writeHead(200, noContent).end();
  };
}
