import { getHeapStatistics } from "node:v8";

/** The share of the heap that requests may take which wait for the response to an earlier one of their connection, and what one takes. */
const SHARE_OF_WAITING = 1 / 8;
const BYTES_OF_WAITING = 8192;

/** Most requests that wait so, of all sources of this process. */
export const MOST_WAITING = Math.floor((getHeapStatistics().heap_size_limit * SHARE_OF_WAITING) / BYTES_OF_WAITING);

/**
 * The requests of senders that do not wait for responses. Node's parser makes thousands out of one piece of what a connection
 * received, and each takes far more memory than its bytes.
 */
export class WaitingRequests {
  readonly #most: number;
  #number = 0;

  constructor(most: number = MOST_WAITING) {
    this.#most = most;
  }

  get number(): number {
    return this.#number;
  }

  /** False when no more may wait. */
  admit(): boolean {
    if (this.#number >= this.#most) return false;
    this.#number += 1;
    return true;
  }

  release(requests: number): void {
    this.#number -= requests;
  }
}

/** Of all sources of this process. */
export const waitingInProcess = new WaitingRequests();
