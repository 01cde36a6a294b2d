import type { Event, TakeTransaction } from "deneb/sdk";
import type { BoundedQueue } from "./bounded-queue.js";
import { type TransactionLimit, transactionEnded, transactionTooLarge } from "./transaction-limit.js";

export class MemoryTake implements TakeTransaction {
  readonly #queue: BoundedQueue;
  readonly #limit: TransactionLimit;
  #taken: readonly Event[] = [];
  #open = true;

  constructor(queue: BoundedQueue, limit: TransactionLimit) {
    this.#queue = queue;
    this.#limit = limit;
  }

  async take(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    if (!this.#open) throw transactionEnded(this.#limit);
    const left = this.#limit.most - this.#taken.length;
    if (left <= 0) throw transactionTooLarge(this.#limit);
    const events = await this.#queue.take(Math.min(max, left), signal);
    return this.#keep(events);
  }

  async commit(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    this.#queue.release(this.#taken.length);
  }

  async rollback(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    this.#queue.restore(this.#taken);
  }

  #keep(events: readonly Event[]): readonly Event[] {
    if (this.#open) {
      this.#taken = this.#taken.length === 0 ? events : [...this.#taken, ...events];
      return events;
    }
    // The transaction ended while it was waiting: nobody would ever commit these.
    this.#queue.restore(events);
    return [];
  }
}
