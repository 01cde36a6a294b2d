import type { Event, PutTransaction } from "deneb/sdk";
import type { BoundedQueue } from "./bounded-queue.js";
import { type TransactionLimit, transactionEnded, transactionTooLarge } from "./transaction-limit.js";

export class MemoryPut implements PutTransaction {
  readonly #queue: BoundedQueue;
  readonly #limit: TransactionLimit;
  readonly #events: Event[] = [];
  #open = true;

  constructor(queue: BoundedQueue, limit: TransactionLimit) {
    this.#queue = queue;
    this.#limit = limit;
  }

  put(event: Event): void {
    if (!this.#open) throw transactionEnded(this.#limit);
    if (this.#events.length >= this.#limit.most) throw transactionTooLarge(this.#limit);
    this.#events.push(event);
  }

  async commit(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    if (this.#events.length > 0) await this.#queue.add(this.#events);
  }

  async rollback(): Promise<void> {
    this.#open = false;
  }
}
