const FIRST_SLOTS = 4;

/** Numbers in ascending order, in a ring of slots that doubles when it is full: 8 bytes each. */
export class NumberRing {
  #slots = new Float64Array(FIRST_SLOTS);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds a number that is higher than all others. */
  push(number: number): void {
    this.#makeRoom(1);
    this.#slots[this.#slot(this.#length)] = number;
    this.#length += 1;
  }

  /** Removes the lowest; undefined when there is none. */
  shift(): number | undefined {
    if (this.#length === 0) return undefined;
    const number = this.#slots[this.#head];
    this.#head = this.#slot(1);
    this.#length -= 1;
    return number;
  }

  /** Puts numbers back that were removed, ascending ones, whatever was removed or put back in between. */
  restore(numbers: readonly number[]): void {
    const last = numbers.at(-1) ?? 0;
    const all = [...numbers];
    for (let first = this.#slots[this.#head] ?? 0; this.#length > 0 && first < last; ) {
      all.push(this.shift() ?? 0);
      first = this.#slots[this.#head] ?? 0;
    }
    if (all.length > numbers.length) all.sort((one, other) => one - other);
    this.#makeRoom(all.length);
    this.#head = this.#slot(-all.length);
    this.#length += all.length;
    for (const [index, number] of all.entries()) this.#slots[this.#slot(index)] = number;
  }

  /** The slot at a distance from the head; the number of slots is a power of two. */
  #slot(distance: number): number {
    return (this.#head + distance) & (this.#slots.length - 1);
  }

  #makeRoom(count: number): void {
    let size = this.#slots.length;
    while (size < this.#length + count) size *= 2;
    if (size === this.#slots.length) return;
    const slots = new Float64Array(size);
    for (let index = 0; index < this.#length; index += 1) slots[index] = this.#slots[this.#slot(index)] ?? 0;
    this.#slots = slots;
    this.#head = 0;
  }
}
