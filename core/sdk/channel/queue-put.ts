import type { PutTransaction } from "../channel.js";
import type { Event } from "../event.js";
import { type TransactionLimit, transactionEnded, transactionTooLarge } from "./channel-errors.js";
import type { EventQueue } from "./event-queue.js";

/** A put transaction over a queue: collects, then adds everything at once. */
export class QueuePut implements PutTransaction {
  readonly #queue: EventQueue;
  readonly #limit: TransactionLimit;
  readonly #events: Event[] = [];
  #open = true;

  constructor(queue: EventQueue, limit: TransactionLimit) {
    this.#queue = queue;
    this.#limit = limit;
  }

  put(event: Event): void {
    if (!this.#open) throw transactionEnded(this.#limit);
    if (this.#events.length >= this.#limit.most) throw transactionTooLarge(this.#limit);
    this.#events.push(event);
  }

  commit(): Promise<void> {
    if (!this.#open) return Promise.resolve();
    this.#open = false;
    return this.#events.length > 0 ? this.#queue.add(this.#events) : Promise.resolve();
  }

  async rollback(): Promise<void> {
    this.#open = false;
  }
}
