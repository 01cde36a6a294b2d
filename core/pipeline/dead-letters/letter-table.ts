import {
  type DeadLetter,
  type DeadLetterReason,
  isMark,
  type LetterMark,
  type LetterRecord,
  letterReasons,
} from "./dead-letter.js";
import { RowsById } from "./rows-by-id.js";

/** What a file says last of one letter. */
export interface LetterEntry {
  readonly mark: LetterMark["mark"];
  /** Undefined when only marks are known. */
  readonly reason: DeadLetterReason | undefined;
  readonly time: number;
  /** Bytes of its latest line as a letter. */
  readonly bytes: number;
  readonly replays: number;
  /** True when this process wrote what it stands at, or another agent that is at work. */
  readonly own: boolean;
  /** True when this process wrote what it stands at. */
  readonly mine: boolean;
  /** Of its latest record among those that agents share; undefined for one that is not shared. */
  readonly offset: number | undefined;
  /** The same of its latest record as a letter, which is newer than a replay that failed. */
  readonly keptAt: number | undefined;
  /** Of one that is stored, or was, where it stood when the event was sent that is stored; undefined where nobody knows. */
  readonly storedFrom: number | undefined;
  /** The line of its latest record as a letter, from 1; 0 when only marks are known. */
  readonly line: number;
  /** The line of its latest record of either kind. */
  readonly lastLine: number;
}

/** Given what a letter stands at, whether it is marked. */
export type MarkCondition = (entry: LetterEntry | undefined) => boolean;

/** True for a letter that is neither stored nor dropped. */
export function isOpen({ mark, line }: LetterEntry): boolean {
  return line !== 0 && (mark === "waiting" || mark === "replaying");
}

/** Whether it is what a file says last: numbers of lines change when the file is rewritten. */
export function isVersion(letter: DeadLetter, { time, replays }: LetterEntry): boolean {
  return replaysOf(letter) === replays && timeOf(letter) === time;
}

function replaysOf({ replays = 0 }: DeadLetter): number {
  return Math.min(replays, 255);
}

function timeOf({ time }: DeadLetter): number {
  const kept = Date.parse(time);
  return Number.isNaN(kept) ? Number.POSITIVE_INFINITY : kept;
}

const marks = ["waiting", "replaying", "stored", "dropped"] as const;
/** The first marks leave a letter open. */
const openMarks = 2;
const noReason = letterReasons.length;
const mostRuns = 10_000;

/** The agents that share the letters of a file. */
export interface Sharing {
  /** Names their log: what was shared in another one counts as not shared. */
  readonly log: string;
  /** Whether the run of an agent goes on. */
  isAtWork(run: string): boolean;
  /** Whether it is that of this process; false while the log is not open. */
  isMine(run: string): boolean;
}

/**
 * The letters of a file by id, without their events: about 80 bytes each, outside of the heap, because a file may hold
 * millions. Letters are never removed; a table is created again from its file.
 */
export class LetterTable {
  readonly #rows = new RowsById();
  #columns = columnsFor(this.#rows.room);
  /** The agents that wrote what letters stand at; the first one stands for this process. */
  readonly #runs: string[] = [""];
  readonly #sharing: Sharing | undefined;

  constructor(sharing?: Sharing) {
    this.#sharing = sharing;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Takes over a record, that of the given line and length. */
  note(record: LetterRecord, at: { readonly line: number; readonly bytes: number; readonly own: boolean }): void {
    const row = this.#withRoom(this.#rows.add(record.id));
    const { state, reason, time, bytes, replays, lines, lastLines } = this.#columns;
    const mark = isMark(record) ? record.mark : "waiting";
    state[row] = marks.indexOf(mark) + (at.own ? marks.length : 0);
    lastLines[row] = at.line;
    const shared = record.shared?.log === this.#sharing?.log ? record.shared : undefined;
    const { offsets, letterOffsets, storedFrom, runs } = this.#columns;
    offsets[row] = shared?.offset ?? -1;
    runs[row] = shared === undefined ? 0 : this.#runOf(shared.agent);
    const sent = isMark(record) ? (record.sentAt ?? -1) : (record.storedFrom ?? storedFrom[row] ?? -1);
    storedFrom[row] = shared === undefined ? -1 : sent;
    if (isMark(record)) return;
    letterOffsets[row] = offsets[row] ?? -1;
    reason[row] = letterReasons.indexOf(record.reason);
    time[row] = timeOf(record);
    bytes[row] = at.bytes;
    replays[row] = replaysOf(record);
    lines[row] = at.line;
  }

  get(id: string): LetterEntry | undefined {
    const row = this.#rows.find(id);
    return row === undefined ? undefined : this.#entry(row);
  }

  *entries(): Generator<LetterEntry> {
    for (let row = 0; row < this.size; row += 1) yield this.#entry(row);
  }

  /** Without the letters that are not to be kept. */
  copyOf(isKept: (entry: LetterEntry) => boolean): LetterTable {
    const copy = new LetterTable(this.#sharing);
    copy.#runs.push(...this.#runs.slice(1));
    for (let row = 0; row < this.size; row += 1) if (isKept(this.#entry(row))) copy.#take(this, row);
    return copy;
  }

  /** The offset of the oldest open letter that is shared; undefined when there is none. */
  oldestOffset(): number | undefined {
    const { letterOffsets } = this.#columns;
    let oldest = Number.POSITIVE_INFINITY;
    for (let row = 0; row < this.size; row += 1) {
      const offset = letterOffsets[row] ?? -1;
      if (offset >= 0 && this.#isOpen(row)) oldest = Math.min(oldest, offset);
    }
    return oldest === Number.POSITIVE_INFINITY ? undefined : oldest;
  }

  get hasStored(): boolean {
    const stored = marks.indexOf("stored");
    return this.#columns.state.subarray(0, this.size).some((state) => state % marks.length === stored);
  }

  /** The time of the oldest open letter. */
  oldest(): number | undefined {
    const { time } = this.#columns;
    let oldest = Number.POSITIVE_INFINITY;
    for (let row = 0; row < this.size; row += 1) if (this.#isOpen(row)) oldest = Math.min(oldest, time[row] ?? oldest);
    return oldest === Number.POSITIVE_INFINITY ? undefined : oldest;
  }

  #isOpen(row: number): boolean {
    const { state, lines } = this.#columns;
    return (state[row] ?? 0) % marks.length < openMarks && lines[row] !== 0;
  }

  #take(from: LetterTable, row: number): void {
    const own = this.#withRoom(this.#rows.addFrom(from.#rows, row));
    for (const name of columnNames) this.#columns[name][own] = from.#columns[name][row] ?? 0;
  }

  #withRoom(row: number): number {
    if (row < this.#columns.state.length) return row;
    const before = this.#columns;
    this.#columns = columnsFor(this.#rows.room);
    for (const name of columnNames) this.#columns[name].set(before[name]);
    return row;
  }

  #entry(row: number): LetterEntry {
    const { state, reason, time, bytes, replays, lines, lastLines, offsets, letterOffsets, storedFrom, runs } =
      this.#columns;
    const stands = state[row] ?? 0;
    const run = this.#runs[runs[row] ?? 0] ?? "";
    return {
      mark: marks[stands % marks.length] ?? "waiting",
      reason: letterReasons[reason[row] ?? noReason],
      time: time[row] ?? 0,
      bytes: bytes[row] ?? 0,
      replays: replays[row] ?? 0,
      mine: stands >= marks.length || (run !== "" && this.#sharing?.isMine(run) === true),
      own: stands >= marks.length || (run !== "" && this.#sharing?.isAtWork(run) === true),
      offset: offsetIn(offsets, row),
      keptAt: offsetIn(letterOffsets, row),
      storedFrom: offsetIn(storedFrom, row),
      line: lines[row] ?? 0,
      lastLine: lastLines[row] ?? 0,
    };
  }

  #runOf(agent: string): number {
    const known = this.#runs.lastIndexOf(agent);
    if (known !== -1) return known;
    // Later ones count as not at work: what they were replaying may be replayed again.
    if (this.#runs.length === mostRuns) return 0;
    return this.#runs.push(agent) - 1;
  }
}

/** Undefined for what is not shared. */
function offsetIn(column: Float64Array, row: number): number | undefined {
  const offset = column[row] ?? -1;
  return offset < 0 ? undefined : offset;
}

const columnNames = [
  "state",
  "reason",
  "time",
  "bytes",
  "replays",
  "lines",
  "lastLines",
  "offsets",
  "letterOffsets",
  "storedFrom",
  "runs",
] as const;

function columnsFor(rows: number) {
  return {
    state: new Uint8Array(rows),
    reason: new Uint8Array(rows).fill(noReason),
    time: new Float64Array(rows),
    bytes: new Uint32Array(rows),
    replays: new Uint8Array(rows),
    lines: new Uint32Array(rows),
    lastLines: new Uint32Array(rows),
    offsets: new Float64Array(rows).fill(-1),
    letterOffsets: new Float64Array(rows).fill(-1),
    storedFrom: new Float64Array(rows).fill(-1),
    runs: new Uint16Array(rows),
  };
}
