import type { Putting, Waiting } from "../channel.js";
import type { Event } from "../event.js";
import { onAbort } from "../lifecycle.js";

/** An event in a queue; later ones have larger sequence numbers. @stable */
export interface QueuedEvent {
  readonly sequence: number;
  readonly event: Event;
  /** What it counts for in a queue with a limit in bytes. */
  readonly bytes?: number;
  /** True when it may have been delivered before; see `TakeTransaction.isRedelivered`. */
  readonly redelivered?: boolean;
}

/** Room kept for events that are about to be added. It ends with exactly one of these calls. @stable */
export interface Reservation {
  /** Adds the events; fails only when the device does, or when the channel has stopped. */
  add(): Promise<void>;
  /** Gives the room back. */
  release(): void;
}

/** What is left to write for a new kind of channel when QueuePut and QueueTake make its transactions. @stable */
export interface EventQueue {
  /** Adds all events or none; resolves when they are as durable as the channel promises, `atOnce` if they are already. */
  add(events: readonly Event[], putting?: Putting): Promise<void>;
  /** Keeps room for the events, as PutTransaction.reserve says; absent: the channel cannot keep room. */
  reserve?(events: readonly Event[], waiting: Waiting, putting?: Putting): Promise<Reservation>;
  /** Waits as TakeTransaction.take does; what it returns belongs to the caller until it is released or restored. */
  take(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]>;
  /** Forgets events that were taken. */
  release(taken: readonly QueuedEvent[]): Promise<void>;
  /** Forgets some of the events of a take while others of it, older ones too, go on waiting; absent: the queue cannot. @beta */
  leave?(taken: readonly QueuedEvent[]): Promise<void>;
  /** Puts events that were taken back where they were. */
  restore(taken: readonly QueuedEvent[]): void;
  /** Absent for channels that forget. */
  readonly positions?: QueuePositions;
}

/** Positions of a durable queue; see TakePositions. @stable */
export interface QueuePositions {
  /**
   * Where the channel stands once these events are done. The part before the first colon names the channel: it must stay the
   * same over restarts, and no other channel may have it.
   */
  after(taken: readonly QueuedEvent[]): string;
  /** Those of the events that a stored position covers; none for a position of another channel. */
  coveredBy(position: string, taken: readonly QueuedEvent[]): readonly QueuedEvent[];
  /** Names an event over all restarts of its channel. */
  idOf(taken: QueuedEvent): string;
}

/** A take that waits for an event. */
interface WaitingTake {
  readonly max: number;
  /** Ends the waiting with these events. */
  settle(events: readonly QueuedEvent[]): void;
}

/** Takes that wait for an event, first come first served, each until its signal aborts. @stable */
export class WaitingTakes {
  // No set: its tables would hold what was taken (docs/decisions/0086).
  #waiting: readonly WaitingTake[] = [];

  get first(): WaitingTake | undefined {
    return this.#waiting[0];
  }

  wait(max: number, signal: AbortSignal): Promise<readonly QueuedEvent[]> {
    return new Promise((resolve) => {
      let stopListening: (() => void) | undefined;
      const take: WaitingTake = {
        max,
        settle: (events) => {
          stopListening?.();
          this.#waiting = this.#waiting.filter((one) => one !== take);
          resolve(events);
        },
      };
      this.#waiting = [...this.#waiting, take];
      stopListening = onAbort(signal, () => take.settle([]));
    });
  }

  releaseAll(): void {
    for (const take of this.#waiting) take.settle([]);
  }
}

const FIRST_SLOTS = 64;

/** Events in the order of their sequence numbers, in a ring of slots that doubles when it is full. @stable */
export class SequenceRing {
  #slots: (QueuedEvent | undefined)[];
  #head = 0;
  #length = 0;

  /** `slots`, a power of two, is how many it begins with. */
  constructor(slots = FIRST_SLOTS) {
    this.#slots = new Array(slots);
  }

  get length(): number {
    return this.#length;
  }

  /** Adds events that are later than all others. */
  push(events: readonly QueuedEvent[]): void {
    this.#makeRoom(events.length);
    for (const event of events) {
      this.#slots[this.#slot(this.#length)] = event;
      this.#length += 1;
    }
  }

  /** Removes up to `max` events from the front; after `mostBytes` bytes of events no more. */
  shift(max: number, mostBytes = Number.POSITIVE_INFINITY): QueuedEvent[] {
    const events: QueuedEvent[] = [];
    let bytes = 0;
    while (events.length < max && bytes < mostBytes && this.#length > 0) {
      const event = this.#slots[this.#head];
      this.#slots[this.#head] = undefined;
      this.#head = this.#slot(1);
      this.#length -= 1;
      if (event === undefined) continue;
      events.push(event);
      bytes += event.bytes ?? 0;
    }
    return events;
  }

  /** Puts events that were removed back in their places, whatever was removed or restored in between. */
  restore(events: readonly QueuedEvent[]): void {
    const last = events.at(-1)?.sequence ?? 0;
    const earlier: QueuedEvent[] = [];
    while (this.#first < last) earlier.push(...this.shift(1));
    this.#unshift(earlier.length === 0 ? events : [...earlier, ...events].sort(inOrder));
  }

  get #first(): number {
    return this.#slots[this.#head]?.sequence ?? Number.POSITIVE_INFINITY;
  }

  #unshift(events: readonly QueuedEvent[]): void {
    this.#makeRoom(events.length);
    this.#head = this.#slot(-events.length);
    this.#length += events.length;
    for (const [index, event] of events.entries()) this.#slots[this.#slot(index)] = event;
  }

  /** The slot at a distance from the head; the number of slots is a power of two. */
  #slot(distance: number): number {
    return (this.#head + distance) & (this.#slots.length - 1);
  }

  #makeRoom(count: number): void {
    let size = this.#slots.length;
    while (size < this.#length + count) size *= 2;
    if (size === this.#slots.length) return;
    const slots: (QueuedEvent | undefined)[] = new Array(size);
    for (let index = 0; index < this.#length; index += 1) slots[index] = this.#slots[this.#slot(index)];
    this.#slots = slots;
    this.#head = 0;
  }
}

function inOrder(one: QueuedEvent, other: QueuedEvent): number {
  return one.sequence - other.sequence;
}
