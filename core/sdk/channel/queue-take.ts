import type { TakeTransaction } from "../channel.js";
import type { Event } from "../event.js";
import { type TransactionLimit, transactionEnded, transactionTooLarge } from "./channel-errors.js";
import type { EventQueue, QueuedEvent } from "./event-queue.js";

/** A take transaction over a queue: what it took goes away with commit and back with rollback. */
export class QueueTake implements TakeTransaction {
  readonly #queue: EventQueue;
  readonly #limit: TransactionLimit;
  #taken: readonly QueuedEvent[] = [];
  #open = true;

  constructor(queue: EventQueue, limit: TransactionLimit) {
    this.#queue = queue;
    this.#limit = limit;
  }

  get position(): string | undefined {
    return this.positionAfter(this.#taken.length);
  }

  positionAfter(count: number): string | undefined {
    return this.#queue.positionAfter?.(this.#taken.slice(0, count));
  }

  coveredBy(position: string): readonly Event[] {
    return this.#queue.coveredBy?.(position, this.#taken).map(({ event }) => event) ?? [];
  }

  idOf(event: Event): string | undefined {
    const found = this.#taken.find((taken) => taken.event === event);
    return found === undefined ? undefined : this.#queue.idOf?.(found);
  }

  async take(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    if (!this.#open) throw transactionEnded(this.#limit);
    const left = this.#limit.most - this.#taken.length;
    if (left <= 0) throw transactionTooLarge(this.#limit);
    return this.#keep(await this.#queue.take(Math.min(max, left), signal));
  }

  async commit(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    if (this.#taken.length > 0) await this.#queue.release(this.#taken);
  }

  async rollback(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    if (this.#taken.length > 0) this.#queue.restore(this.#taken);
  }

  #keep(taken: readonly QueuedEvent[]): readonly Event[] {
    if (this.#open) {
      this.#taken = this.#taken.length === 0 ? taken : [...this.#taken, ...taken];
      return taken.map(({ event }) => event);
    }
    // The transaction ended while it was waiting: nobody would ever commit these.
    this.#queue.restore(taken);
    return [];
  }
}
