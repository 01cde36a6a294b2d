import type { Unpacked } from "./packed-record.js";

/** The writers whose records are compared; more come only when many appends fail. */
const MOST_WRITERS = 1000;
/** What is missing in more places is counted as if some of these were one. */
const MOST_GAPS = 1000;
const LEAST_STEPS = 1000;

/** A record, and its offset. */
interface PlacedRecord extends Unpacked {
  readonly offset: number;
}

/** A record that was to be read before the one at `before`, which says so. */
export interface Lacking {
  readonly offset: number;
  readonly before: number;
}

/** How many events a writer had appended, as far as it was read, and its last record. */
interface Known {
  readonly events: number;
  readonly offset: number;
}

/** What was known of a writer before a record of it. */
interface Step {
  readonly offset: number;
  readonly writer: string;
  readonly known: Known | undefined;
}

/** What is missing before a record: that many records, and at least that many events, which may be in one record. */
interface Gap {
  readonly before: number;
  /** The newest of them. */
  readonly last: number;
  readonly records: number;
  readonly events: number;
}

/** The writer of a record that cannot be read: what it holds is missing, and it is there. */
export function unreadableAt(offset: number): string {
  return `unreadable ${offset}`;
}

/** Compares the records of each writer of a part: which came twice, and what is missing between two of them. */
export class WriterGaps {
  readonly #writers = new Map<string, Known>();
  /** Records up to this offset need not have been read; -1: nothing is known of what was before. */
  #passed: number;
  readonly #gapless: boolean;
  /** In the order of their places. */
  #gaps: Gap[] = [];
  #hadGaps = false;
  /** Those of records that may be read again, and some before. */
  #steps: Step[] = [];
  /** When there are more, those of records that are not read again are removed. */
  #mostSteps = LEAST_STEPS;

  /** `passed`: the offset up to which all is done; -1 when that is not known. Where the log is `gapless` offsets tell what is missing, too. */
  constructor(passed: number, gapless = false) {
    this.#passed = passed;
    this.#gapless = gapless;
  }

  /** Events that are missing, at least: of records of which only the number is known, one for each. */
  get lost(): number {
    return this.#gaps.reduce((sum, { records, events }) => sum + Math.max(records, events), 0);
  }

  /** Whether anything was missing, be it stored meanwhile. */
  get hadGaps(): boolean {
    return this.#hadGaps;
  }

  /** Whether it is known up to where all is done. */
  get isBegun(): boolean {
    return this.#passed >= 0;
  }

  /** What was to be read before one of these records, from the offset `from` on; undefined when nothing is known of it. */
  lacking(records: readonly PlacedRecord[], from: number): Lacking | undefined {
    // This is asked of each record, most of which come alone.
    const read = records.length > 1 ? new Map<string, number>() : undefined;
    for (const record of records) {
      if (record.offset < from) continue;
      const { writer, before, events } = record;
      const known = read?.get(writer) ?? this.#writers.get(writer)?.events;
      const lacking = this.#lackingBefore(record, known);
      if (lacking !== undefined && read?.has(unreadableAt(lacking)) !== true)
        return { offset: lacking, before: record.offset };
      read?.set(writer, Math.max(known ?? 0, before + events.length));
    }
    return undefined;
  }

  /** What is up to this offset is done, and need not have been read. */
  passTo(offset: number): void {
    this.#passed = Math.max(this.#passed, offset);
    this.stored(offset);
  }

  /** What is missing up to this offset is stored. */
  stored(offset: number): void {
    this.#gaps = this.#gaps.flatMap((gap) => {
      if (gap.last <= offset) return [];
      const isCut = this.#gapless && gap.last - gap.records < offset;
      // How many of the events are in the rest of the records nobody knows.
      return [isCut ? { ...gap, records: gap.last - offset, events: 0 } : gap];
    });
  }

  /** That many records before this offset are missing, the newest of which is at `last`. */
  missing(before: number, records: number, last = before - 1): void {
    this.#hadGaps = true;
    this.#gaps.push({ before, last, records, events: 0 });
    if (this.#gaps.length > MOST_GAPS) this.#gaps = [joined(this.#gaps.slice(0, 2)), ...this.#gaps.slice(2)];
  }

  /** False for a record that the engine has kept twice; none up to the offset `final` is read again. */
  isNew(record: PlacedRecord, final: number): boolean {
    const { writer, before, events, offset } = record;
    const known = this.#writers.get(writer);
    if (known !== undefined && before < known.events) return false;
    if (known !== undefined && before > known.events) this.#eventsMissing(record, before - known.events, known.offset);
    // Where it is gapless the record that is missing is counted by its offset.
    else if (!this.#gapless && this.isBegun && this.#lackingBefore(record, known?.events) !== undefined)
      this.missing(offset, 1, record.follows);
    this.#note({ offset, writer, known }, final);
    this.#writers.delete(writer);
    this.#writers.set(writer, { events: before + events.length, offset });
    const [oldest] = this.#writers.keys();
    if (this.#writers.size > MOST_WRITERS && oldest !== undefined) {
      this.#writers.delete(oldest);
      this.#passed = Math.max(this.#passed, offset);
    }
    return true;
  }

  /** Records from this offset on, which is behind what is done, are read again: then it is as it was before they were read. */
  goBackTo(offset: number): void {
    for (let last = this.#steps.at(-1); last !== undefined && last.offset >= offset; last = this.#steps.at(-1)) {
      this.#steps.pop();
      this.#writers.delete(last.writer);
      if (last.known !== undefined) this.#writers.set(last.writer, last.known);
    }
    this.#gaps = this.#gaps.filter(({ before }) => before < offset);
  }

  /** They are in the records that are missing behind its last record `after`, in which of these nobody knows. */
  #eventsMissing({ offset, follows }: PlacedRecord, events: number, after: number): void {
    const first = this.#gapless ? this.#gaps.findIndex(({ before }) => before > after) : -1;
    const since = first === -1 ? [] : this.#gaps.splice(first);
    const last = since.at(-1)?.last ?? follows ?? offset - 1;
    this.#hadGaps = true;
    this.#gaps.push(joined([...since, { before: offset, last, records: 0, events }]));
  }

  #note(step: Step, final: number): void {
    this.#steps.push(step);
    if (this.#steps.length <= this.#mostSteps) return;
    this.#steps = this.#steps.filter(({ offset }) => offset > final);
    this.#mostSteps = Math.max(LEAST_STEPS, 2 * this.#steps.length);
  }

  /** `known`: how many events its writer had appended, as far as that was read. */
  #lackingBefore({ follows, before, offset }: PlacedRecord, known: number | undefined): number | undefined {
    // Nothing follows what comes behind it: an agent did not write that.
    if (follows === undefined || follows >= offset) return undefined;
    if (known === undefined ? follows <= this.#passed : before <= known) return undefined;
    return this.#writers.has(unreadableAt(follows)) ? undefined : follows;
  }
}

function joined(gaps: readonly Gap[]): Gap {
  const sum = (of: (gap: Gap) => number) => gaps.reduce((total, gap) => total + of(gap), 0);
  return {
    before: gaps.at(-1)?.before ?? 0,
    last: Math.max(...gaps.map(({ last }) => last)),
    records: sum(({ records }) => records),
    events: sum(({ events }) => events),
  };
}
