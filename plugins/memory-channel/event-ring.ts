import type { Event } from "deneb/sdk";

const FIRST_SLOTS = 64;

/** A queue open at both ends, in a ring of slots that doubles when it is full: no step depends on its length. */
export class EventRing {
  #slots: (Event | undefined)[] = new Array(FIRST_SLOTS);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds at the back. */
  push(events: readonly Event[]): void {
    this.#makeRoom(events.length);
    for (const event of events) {
      this.#slots[this.#slot(this.#length)] = event;
      this.#length += 1;
    }
  }

  /** Adds at the front, keeping the order of the list. */
  unshift(events: readonly Event[]): void {
    this.#makeRoom(events.length);
    this.#head = this.#slot(-events.length);
    this.#length += events.length;
    for (const [index, event] of events.entries()) this.#slots[this.#slot(index)] = event;
  }

  /** Removes up to `max` events from the front. */
  shift(max: number): Event[] {
    const events: Event[] = [];
    while (events.length < max && this.#length > 0) {
      const event = this.#slots[this.#head];
      this.#slots[this.#head] = undefined;
      this.#head = this.#slot(1);
      this.#length -= 1;
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  /** The slot at a distance from the head; the number of slots is a power of two. */
  #slot(distance: number): number {
    return (this.#head + distance) & (this.#slots.length - 1);
  }

  #makeRoom(count: number): void {
    let size = this.#slots.length;
    while (size < this.#length + count) size *= 2;
    if (size === this.#slots.length) return;
    const slots: (Event | undefined)[] = new Array(size);
    for (let index = 0; index < this.#length; index += 1) slots[index] = this.#slots[this.#slot(index)];
    this.#slots = slots;
    this.#head = 0;
  }
}
