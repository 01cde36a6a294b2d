/** A range of sequence numbers, both ends included. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** Which sequence numbers are done: all up to a low-water mark, and ranges above it that finished out of order. */
export class DoneRanges {
  #low: number;
  #ranges: readonly Range[] = [];
  /** Of the ranges. */
  #above = 0;

  constructor(low = 0, ranges: readonly Range[] = []) {
    this.#low = low;
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
    return this.#low + this.#above;
  }

  has(sequence: number): boolean {
    return this.hasRange({ from: sequence, to: sequence });
  }

  /** True when every number of the range is done. */
  hasRange({ from, to }: Range): boolean {
    if (to <= this.#low) return true;
    const range = this.#ranges[this.#firstEndingAt(to)];
    return range !== undefined && range.from <= Math.max(from, this.#low + 1);
  }

  /** True when everything that is done in the other is done here. */
  hasAll(other: DoneRanges): boolean {
    return other.low <= this.#low && other.#ranges.every((range) => this.hasRange(range));
  }

  /** The parts of a range that are not done. */
  openIn({ from, to }: Range): readonly Range[] {
    const open: Range[] = [];
    let at = Math.max(from, this.#low + 1);
    for (let index = this.#firstEndingAt(at); index < this.#ranges.length; index += 1) {
      const range = this.#ranges[index];
      if (range === undefined || range.from > to) break;
      if (range.from > at) open.push({ from: at, to: range.from - 1 });
      at = range.to + 1;
    }
    if (at <= to) open.push({ from: at, to });
    return open;
  }

  add({ from, to }: Range): void {
    if (to < from || to <= this.#low) return;
    const begin = this.#firstEndingAt(from - 1);
    const behind = this.#firstEndingAt(to + 1);
    const end = (this.#ranges[behind]?.from ?? Number.POSITIVE_INFINITY) <= to + 1 ? behind + 1 : behind;
    const touching = this.#ranges.slice(begin, end);
    const merged = {
      from: Math.min(from, touching[0]?.from ?? from),
      to: Math.max(to, touching.at(-1)?.to ?? to),
    };
    for (const range of touching) this.#above -= countOf(range);
    if (merged.from > this.#low + 1) {
      this.#above += countOf(merged);
      this.#ranges = [...this.#ranges.slice(0, begin), merged, ...this.#ranges.slice(end)];
      return;
    }
    this.#low = merged.to;
    this.#ranges = this.#ranges.slice(end);
  }

  addAll(sequences: readonly number[]): void {
    for (const range of rangesOf(sequences)) this.add(range);
  }

  copy(): DoneRanges {
    const copy = new DoneRanges(this.#low);
    copy.#ranges = this.#ranges;
    copy.#above = this.#above;
    return copy;
  }

  /** The same with some of its ranges, in their order. */
  only(ranges: readonly Range[]): DoneRanges {
    const copy = new DoneRanges(this.#low);
    copy.#ranges = ranges;
    for (const range of ranges) copy.#above += countOf(range);
    return copy;
  }

  /** Where the first range is that ends at a number or behind it; the number of ranges when there is none. */
  #firstEndingAt(sequence: number): number {
    let from = 0;
    let to = this.#ranges.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#ranges[middle]?.to ?? 0) < sequence) from = middle + 1;
      else to = middle;
    }
    return from;
  }
}

/** How many numbers are in a range. */
export function countOf({ from, to }: Range): number {
  return to - from + 1;
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
