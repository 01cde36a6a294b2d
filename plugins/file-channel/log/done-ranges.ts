/** A range of sequence numbers, both ends included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Which sequence numbers are done: all up to a low-water mark, and ranges above it that finished out of order. */
export class DoneRanges {
  #low: number;
  #ranges: readonly Range[];

  constructor(low = 0, ranges: readonly Range[] = []) {
    this.#low = low;
    this.#ranges = [];
    for (const range of ranges) this.add(range);
  }

  /** Everything up to this number is done. */
  get low(): number {
    return this.#low;
  }

  /** The ranges that are done above the low-water mark, in order, not adjacent. */
  get ranges(): readonly Range[] {
    return this.#ranges;
  }

  /** The largest sequence number that is done. */
  get highest(): number {
    return this.#ranges.at(-1)?.to ?? this.#low;
  }

  /** How many are done. */
  get count(): number {
    let count = this.#low;
    // For each put: a function for each range would be made each time.
    for (const { from, to } of this.#ranges) count += to - from + 1;
    return count;
  }

  has(sequence: number): boolean {
    return sequence <= this.#low || this.#ranges.some(({ from, to }) => from <= sequence && sequence <= to);
  }

  /** True when everything that is done in the other is done here. */
  hasAll(other: DoneRanges): boolean {
    return other.low <= this.#low && other.#ranges.every(({ from, to }) => this.#covers(from, to));
  }

  /** The parts of a range that are not done. */
  openIn({ from, to }: Range): readonly Range[] {
    const open: Range[] = [];
    let at = Math.max(from, this.#low + 1);
    for (const range of this.#ranges) {
      if (range.to < at) continue;
      if (range.from > to) break;
      if (range.from > at) open.push({ from: at, to: range.from - 1 });
      at = range.to + 1;
    }
    if (at <= to) open.push({ from: at, to });
    return open;
  }

  add({ from, to }: Range): void {
    if (to < from || to <= this.#low) return;
    const touching = this.#ranges.filter((range) => range.from <= to + 1 && from <= range.to + 1);
    const merged = {
      from: Math.min(from, ...touching.map((range) => range.from)),
      to: Math.max(to, ...touching.map((range) => range.to)),
    };
    const apart = this.#ranges.filter((range) => !touching.includes(range));
    if (merged.from > this.#low + 1) {
      this.#ranges = [...apart, merged].sort((one, other) => one.from - other.from);
      return;
    }
    this.#low = merged.to;
    this.#ranges = apart.filter((range) => range.to > merged.to);
  }

  addAll(sequences: readonly number[]): void {
    for (const range of rangesOf(sequences)) this.add(range);
  }

  #covers(from: number, to: number): boolean {
    return (
      to <= this.#low || this.#ranges.some((range) => range.from <= Math.max(from, this.#low + 1) && to <= range.to)
    );
  }

  copy(): DoneRanges {
    const copy = new DoneRanges(this.#low);
    copy.#ranges = this.#ranges;
    return copy;
  }
}

/** Sequence numbers as ranges, consecutive ones together. */
export function rangesOf(sequences: readonly number[]): readonly Range[] {
  const ranges: { from: number; to: number }[] = [];
  let last: { from: number; to: number } | undefined;
  for (const sequence of sequences) {
    if (last !== undefined && last.to + 1 === sequence) last.to = sequence;
    else {
      last = { from: sequence, to: sequence };
      ranges.push(last);
    }
  }
  return ranges;
}

/** What is left of some ranges without others. */
export function without(ranges: readonly Range[], others: readonly Range[]): readonly Range[] {
  const removed = new DoneRanges(0, others);
  return ranges.flatMap((range) => removed.openIn(range));
}
