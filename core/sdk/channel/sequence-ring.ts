import type { QueuedEvent } from "./event-queue.js";

const FIRST_SLOTS = 64;

/** Events in the order of their sequence numbers, in a ring of slots that doubles when it is full. */
export class SequenceRing {
  #slots: (QueuedEvent | undefined)[] = new Array(FIRST_SLOTS);
  #head = 0;
  #length = 0;

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

  /** Removes up to `max` events from the front. */
  shift(max: number): QueuedEvent[] {
    const events: QueuedEvent[] = [];
    while (events.length < max && this.#length > 0) {
      const event = this.#slots[this.#head];
      this.#slots[this.#head] = undefined;
      this.#head = this.#slot(1);
      this.#length -= 1;
      if (event !== undefined) events.push(event);
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
