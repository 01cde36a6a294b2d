import { atOnce } from "../at-once.js";
import type { PutTransaction, Putting, TakePositions, TakeTransaction, Waiting } from "../channel.js";
import type { Event } from "../event.js";
import { type TransactionLimit, transactionEnded, transactionReserved, transactionTooLarge } from "./channel-errors.js";
import type { EventQueue, QueuedEvent, Reservation } from "./event-queue.js";

/** A put transaction over a queue: collects, then adds everything at once. @stable */
export class QueuePut implements PutTransaction {
  readonly #queue: Pick<EventQueue, "add" | "reserve">;
  readonly #limit: TransactionLimit;
  readonly #putting: Putting;
  /** Undefined before the first one: a list that grows has room for seventeen, and most notifications have one event. */
  #events: Event[] | undefined;
  #reservation: Reservation | undefined;
  #open = true;

  constructor(queue: Pick<EventQueue, "add" | "reserve">, limit: TransactionLimit, putting: Putting = "new") {
    this.#queue = queue;
    this.#limit = limit;
    this.#putting = putting;
  }

  put(event: Event): void {
    if (!this.#open) throw transactionEnded(this.#limit);
    if (this.#reservation !== undefined) throw transactionReserved(this.#limit);
    if ((this.#events?.length ?? 0) >= this.#limit.most) throw transactionTooLarge(this.#limit);
    if (this.#events === undefined) this.#events = [event];
    else this.#events.push(event);
  }

  async reserve(waiting: Waiting): Promise<boolean> {
    if (!this.#open) throw transactionEnded(this.#limit);
    if (this.#queue.reserve === undefined) return false;
    if (this.#reservation !== undefined || this.#events === undefined) return true;
    const reservation = await this.#queue.reserve([...this.#events], waiting, this.#putting);
    if (this.#open && this.#reservation === undefined) {
      this.#reservation = reservation;
      return true;
    }
    // The transaction ended while it was waiting: no call would release this room.
    reservation.release();
    if (this.#open) return true;
    throw transactionEnded(this.#limit);
  }

  commit(): Promise<void> {
    if (!this.#open) return atOnce;
    this.#open = false;
    if (this.#reservation !== undefined) return this.#reservation.add();
    return this.#events === undefined ? atOnce : this.#queue.add(this.#events, this.#putting);
  }

  async rollback(): Promise<void> {
    if (!this.#open) return;
    this.#open = false;
    this.#reservation?.release();
  }
}

/** A take transaction over a queue: what it took goes away with commit and back with rollback. @stable */
export class QueueTake implements TakeTransaction {
  readonly #queue: EventQueue;
  readonly #limit: TransactionLimit;
  #taken: readonly QueuedEvent[] = [];
  #takenBytes = 0;
  /** Made at the first question about an id. */
  #byEvent: ReadonlyMap<Event, QueuedEvent> | undefined;
  #redelivered: Set<Event> | undefined;
  #open = true;

  constructor(queue: EventQueue, limit: TransactionLimit) {
    this.#queue = queue;
    this.#limit = limit;
  }

  get positions(): TakePositions | undefined {
    const { positions } = this.#queue;
    if (positions === undefined) return undefined;
    return {
      after: (count) => positions.after(this.#taken.slice(0, count)),
      coveredBy: (position) => positions.coveredBy(position, this.#taken).map(({ event }) => event),
      idOf: (event) => {
        this.#byEvent ??= new Map(this.#taken.map((taken) => [taken.event, taken]));
        const found = this.#byEvent.get(event);
        return found === undefined ? undefined : positions.idOf(found);
      },
    };
  }

  isRedelivered(event: Event): boolean {
    return this.#redelivered?.has(event) === true;
  }

  /** Absent where the queue cannot. */
  get leave(): TakeTransaction["leave"] {
    return this.#queue.leave === undefined ? undefined : (events) => this.#leave(events);
  }

  async take(max: number, signal: AbortSignal): Promise<readonly Event[]> {
    if (!this.#open) throw transactionEnded(this.#limit);
    const left = this.#limit.most - this.#taken.length;
    if (left <= 0) throw transactionTooLarge(this.#limit);
    if (this.#takenBytes >= (this.#limit.mostBytes ?? Number.POSITIVE_INFINITY)) return [];
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

  async #leave(events: readonly Event[]): Promise<void> {
    if (!this.#open) return;
    const own = new Set(events);
    const gone = this.#taken.filter(({ event }) => own.has(event));
    this.#taken = this.#taken.filter(({ event }) => !own.has(event));
    if (gone.length > 0) await this.#queue.leave?.(gone);
  }

  #noteRedelivered(taken: readonly QueuedEvent[]): void {
    const again = taken.filter(({ redelivered }) => redelivered === true);
    if (again.length === 0) return;
    this.#redelivered ??= new Set();
    for (const { event } of again) this.#redelivered.add(event);
  }

  #keep(taken: readonly QueuedEvent[]): readonly Event[] {
    if (this.#open) {
      this.#taken = this.#taken.length === 0 ? taken : [...this.#taken, ...taken];
      for (const { bytes = 0 } of taken) this.#takenBytes += bytes;
      this.#byEvent = undefined;
      this.#noteRedelivered(taken);
      return taken.map(({ event }) => event);
    }
    // The transaction ended while it was waiting: no call would commit these.
    this.#queue.restore(taken);
    return [];
  }
}
