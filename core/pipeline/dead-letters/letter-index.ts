import { type DeadLetter, type DeadLetterReason, isMark, type LetterRecord, type OpenLetter } from "./dead-letter.js";
import { rememberedStored } from "./draft.js";
import { isOpen, isVersion, type LetterEntry, type LetterTable } from "./letter-table.js";
import type { FileContents } from "./records.js";

/** What is known of the letters of one sink without reading its file. */
export interface LetterCounts {
  readonly sink: string;
  /** Letters that wait for a replay. */
  readonly waiting: number;
  /** Letters whose event is on its way to the sink. */
  readonly replaying: number;
  /** The letters of both kinds, by reason. */
  readonly reasons: Readonly<Record<DeadLetterReason, number>>;
  /** Letters that were kept since the start of the process, by reason; those of events that were replayed again count again. */
  readonly kept: Readonly<Record<DeadLetterReason, number>>;
  /** Of these letters. */
  readonly bytes: number;
  /** When the oldest of them was kept; undefined when there is none. */
  readonly oldest: Date | undefined;
  /** Letters that were removed since the start of the process because of their age. */
  readonly deleted: number;
  /** True where agents share them: each of these counts the same letters. */
  readonly shared?: boolean;
}

/** By reason; what a sink without a letter has. */
export const noLetters: Readonly<Record<DeadLetterReason, number>> = {
  permanent: 0,
  "retries-exhausted": 0,
  "crashed-the-agent": 0,
  stopped: 0,
};

/** The letters of one file, counted as the file changes. */
export class LetterIndex {
  /** Letters whose text is still in the file though they are settled, or were written again. */
  settledTexts = 0;
  deleted = 0;
  readonly unreadable: number;
  #table: LetterTable;
  #lines: number;
  #bytes = 0;
  #waiting = 0;
  #replaying = 0;
  readonly #reasons = { ...noLetters };
  readonly #kept = { ...noLetters };

  constructor({ table, lines, unreadable }: FileContents) {
    this.#table = table;
    this.#lines = lines;
    this.unreadable = unreadable;
    for (const entry of table.entries()) {
      this.#count(entry, 1);
      if (entry.line !== 0 && !isOpen(entry)) this.settledTexts += 1;
    }
  }

  /** Bytes of the letters that are open. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether letters are stored and still remembered. */
  get hasStored(): boolean {
    return this.#table.hasStored;
  }

  entry(id: string): LetterEntry | undefined {
    return this.#table.get(id);
  }

  /** A letter as its file has it; undefined when it is settled, or has a later version. */
  openLetter(letter: DeadLetter): OpenLetter | undefined {
    const entry = this.#table.get(letter.id);
    if (entry === undefined || !isOpen(entry) || !isVersion(letter, entry)) return undefined;
    return { ...letter, state: entry.mark === "replaying" ? "replaying" : "waiting" };
  }

  /** The offset of the oldest open letter that is shared; undefined when there is none. */
  oldestOffset(): number | undefined {
    return this.#table.oldestOffset();
  }

  /** Takes over a record that was added to the file: by this process, or for another agent. */
  note(record: LetterRecord, bytes: number, own = true): void {
    if (!isMark(record) && own) this.#kept[record.reason] += 1;
    const before = this.#table.get(record.id);
    if (before !== undefined) this.#count(before, -1);
    this.#lines += 1;
    this.#table.note(record, { line: this.#lines, bytes, own });
    const after = this.#table.get(record.id);
    if (after === undefined) return;
    this.#count(after, 1);
    if (before !== undefined && isOpen(before) && (!isOpen(after) || after.line !== before.line))
      this.settledTexts += 1;
  }

  /** Forgets what a file that was rewritten does not hold either. */
  forgetSettled(): void {
    const isRemembered = rememberedStored(this.#table);
    this.#table = this.#table.copyOf((entry) => isOpen(entry) || isRemembered(entry));
  }

  counts(sink: string): LetterCounts {
    const oldest = this.#table.oldest();
    return {
      sink,
      waiting: this.#waiting,
      replaying: this.#replaying,
      reasons: { ...this.#reasons },
      kept: { ...this.#kept },
      bytes: this.#bytes,
      oldest: oldest === undefined ? undefined : new Date(oldest),
      deleted: this.deleted,
    };
  }

  #count(entry: LetterEntry, sign: 1 | -1): void {
    if (!isOpen(entry)) return;
    this.#bytes += sign * entry.bytes;
    if (entry.mark === "waiting") this.#waiting += sign;
    else this.#replaying += sign;
    if (entry.reason !== undefined) this.#reasons[entry.reason] += sign;
  }
}
