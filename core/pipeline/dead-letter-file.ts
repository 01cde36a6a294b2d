import { mkdir, open, rename } from "node:fs/promises";
import path from "node:path";
import { isMark, type LetterMark, type LetterRecord, lineOf, type OpenLetter, recordOf } from "./dead-letter.js";
import { linesOf, mendTail } from "./text-lines.js";

/** Characters that are written at once when a file is written anew. */
const draftStep = 1_048_576;

/** The latest that a file says of one letter. */
export interface LetterStanding {
  readonly mark: LetterMark["mark"];
  readonly run: string | undefined;
  readonly time: string;
  /** The line of its latest record as a letter; undefined when only marks are left. */
  readonly line: number | undefined;
  /** The line of its latest record of either kind. */
  readonly lastLine: number;
}

/** A line of a file with its record. */
export interface NumberedRecord {
  readonly line: number;
  readonly bytes: number;
  readonly record: LetterRecord;
}

/** The dead letters of one sink: lines are only added, and settled ones go when the file is written anew. */
export class DeadLetterFile {
  readonly path: string;

  constructor(file: string) {
    this.path = file;
  }

  /** Adds records at the end, on disk when it resolves. Returns the size of the file. */
  async append(records: readonly LetterRecord[]): Promise<number> {
    await mkdir(path.dirname(this.path), { recursive: true, mode: 0o700 });
    const handle = await open(this.path, "a", 0o600);
    const { size } = await handle.stat();
    try {
      await handle.appendFile(records.map(lineOf).join(""));
      await handle.datasync();
      return (await handle.stat()).size;
    } catch (error) {
      // What a full disk took of the text must not run into the next line.
      await handle.truncate(size);
      throw error;
    } finally {
      await handle.close();
    }
  }

  /** Cuts off a last line that a crash tore. */
  async mend(): Promise<void> {
    await mendTail(this.path);
  }

  /** Every record that is whole, in order. No file is no records. */
  async *records(): AsyncGenerator<NumberedRecord> {
    let line = 0;
    for await (const text of linesOf(this.path)) {
      line += 1;
      const record = recordOf(text);
      if (record !== undefined) yield { line, bytes: Buffer.byteLength(text) + 1, record };
    }
  }

  async standings(): Promise<ReadonlyMap<string, LetterStanding>> {
    const standings = new Map<string, LetterStanding>();
    for await (const { line, record } of this.records()) {
      const { id, time } = record;
      const standing = isMark(record)
        ? { mark: record.mark, run: record.run, time, line: standings.get(id)?.line, lastLine: line }
        : { mark: "waiting" as const, run: undefined, time, line, lastLine: line };
      standings.set(id, standing);
    }
    return standings;
  }

  /** The letters that are neither stored nor dropped, oldest first. */
  async *open(): AsyncGenerator<OpenLetter> {
    const standings = await this.standings();
    for await (const { line, record } of this.records()) {
      const standing = standings.get(record.id);
      if (isMark(record) || standing?.line !== line) continue;
      if (standing.mark === "waiting" || standing.mark === "replaying") yield { ...record, state: standing.mark };
    }
  }

  /** Writes the file anew with these lines of it only; a crash leaves the old one or the new one. */
  async keepOnly(lines: ReadonlySet<number>): Promise<void> {
    const draft = `${this.path}.new`;
    const handle = await open(draft, "w", 0o600);
    try {
      let text = "";
      for await (const { line, record } of this.records()) {
        if (lines.has(line)) text += lineOf(record);
        if (text.length < draftStep) continue;
        await handle.appendFile(text);
        text = "";
      }
      await handle.appendFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, this.path);
  }
}
