import { type FileHandle, open, realpath, rm } from "node:fs/promises";
import path from "node:path";
import { refuseGone } from "../../files/folder-lock.js";
import { makeFolder } from "../../files/make-folder.js";
import { refuseNoFile } from "../../files/regular-file.js";
import { syncFolder } from "../../files/whole-file.js";
import { codeOf } from "../../sdk/index.js";
import { isMark, type LetterRecord, lineOf, type OpenLetter } from "./dead-letter.js";
import { type Draft, fileMode, folderMode, writeDraft } from "./draft.js";
import { cutTail, type Mended, mendEnd } from "./file-end.js";
import type { LetterIndex } from "./letter-index.js";
import { LetterTable, type Sharing } from "./letter-table.js";
import { contentsIn, type FileContents, type LineSubject, openIfThere, recordsIn, subjectsIn } from "./records.js";

/** The dead letters of one sink: lines are only added, and settled ones go when the file is rewritten. */
export class DeadLetterFile {
  readonly path: string;
  /** True when its end may be a part of a line. */
  #isTorn = false;

  constructor(file: string) {
    this.path = file;
  }

  /** Adds records at the end, on disk when it resolves. */
  async append(records: readonly LetterRecord[]): Promise<void> {
    const folder = path.dirname(this.path);
    await refuseGone(path.dirname(folder));
    await makeFolder(folder, folderMode);
    if (this.#isTorn) await cutTail(this.path);
    this.#isTorn = false;
    await refuseNoFile(this.path);
    const handle = await open(this.path, "a", fileMode);
    let isNew: boolean;
    try {
      const { size } = await handle.stat();
      isNew = size === 0;
      await this.#write(handle, records.map(lineOf).join(""), size);
    } finally {
      await handle.close();
    }
    if (isNew) await syncFolder(folder);
  }

  async #write(handle: FileHandle, text: string, size: number): Promise<void> {
    try {
      await handle.appendFile(text);
      await handle.datasync();
    } catch (error) {
      // What a full disk took of the text must not run into the next line.
      this.#isTorn = true;
      await handle.truncate(size);
      this.#isTorn = false;
      throw error;
    }
  }

  /** Mends a last line that a crash tore, and removes what a crash left of writing the file anew. */
  async mend(): Promise<Mended> {
    await rm(draftOf(await this.#real()), { force: true });
    return await mendEnd(this.path);
  }

  /** Every record that is there when reading begins, in order. No file is no records. */
  async *records(): AsyncGenerator<LetterRecord> {
    const handle = await openIfThere(this.path);
    try {
      if (handle === undefined) return;
      for await (const some of recordsIn(handle, await this.#whole(handle))) {
        for (const { record } of some) if (record !== undefined) yield record;
      }
    } finally {
      await handle?.close();
    }
  }

  /** What every line that is there when reading begins says of its letter, in order. */
  async *subjects(): AsyncGenerator<LineSubject> {
    const handle = await openIfThere(this.path);
    try {
      if (handle !== undefined) for await (const some of subjectsIn(handle, await this.#whole(handle))) yield* some;
    } finally {
      await handle?.close();
    }
  }

  async exists(): Promise<boolean> {
    const handle = await openIfThere(this.path);
    await handle?.close();
    return handle !== undefined;
  }

  async contents(sharing?: Sharing): Promise<FileContents> {
    const handle = await openIfThere(this.path);
    try {
      return handle === undefined
        ? { table: new LetterTable(sharing), lines: 0, unreadable: 0 }
        : await contentsIn(handle, await this.#whole(handle), sharing);
    } finally {
      await handle?.close();
    }
  }

  /** The letters that are open by the index when they are read, oldest first. */
  async *open(index: LetterIndex): AsyncGenerator<OpenLetter> {
    for await (const record of this.records()) {
      const letter = isMark(record) ? undefined : index.openLetter(record);
      if (letter !== undefined) yield letter;
    }
  }

  /**
   * Begins to write the file anew without what is settled. Nobody may append until it resolves to the function that does
   * the work; undefined when there is no file. Letters that are left out need no mark.
   */
  async beginDraft(
    signal: AbortSignal,
    leftOut: ReadonlySet<string> = none,
  ): Promise<(() => Promise<Draft>) | undefined> {
    // What is appended would take the place of a part of a line, behind the size.
    if (this.#isTorn) await cutTail(this.path);
    this.#isTorn = false;
    const file = await this.#real();
    const source = await openIfThere(file);
    if (source === undefined) return undefined;
    const { size } = await source.stat();
    return () => writeDraft({ source, size, signal, file, draft: draftOf(file), leftOut });
  }

  async #whole(handle: FileHandle): Promise<{ readonly size: number; readonly file: string }> {
    return { size: (await handle.stat()).size, file: this.path };
  }

  /** Where a link leads, as to another disk: a new file takes the place of that one, and none is left there. */
  async #real(): Promise<string> {
    return await realpath(this.path).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return this.path;
      throw error;
    });
  }
}

const none: ReadonlySet<string> = new Set();

function draftOf(file: string): string {
  return `${file}.new`;
}
