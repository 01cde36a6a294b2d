import type { FileHandle } from "node:fs/promises";
import { linesBackwards, type PlacedLine } from "./backwards.js";
import { isMark, type LetterRecord, type OpenLetter, recordOf } from "./dead-letter.js";
import type { LetterIndex } from "./letter-index.js";
import { longestLine, openIfThere } from "./records.js";

/** A record of a file: a search goes on behind it. */
export interface LetterPlace {
  readonly sink: string;
  readonly offset: number;
  readonly id: string;
  readonly time: string;
}

export interface LetterPage {
  readonly letters: readonly OpenLetter[];
  /** Where the next page begins; undefined at the end. */
  readonly next: LetterPlace | undefined;
}

/** How far one search goes. */
export interface SearchBounds {
  /** Most letters. */
  readonly limit: number;
  /** Most bytes that are read; the last read may exceed it. */
  readonly bytes: number;
  /** Most milliseconds; the last read may exceed them. Absent: no limit. */
  readonly milliseconds?: number;
  /** Only records with this text are looked at; absent: all. */
  readonly holding?: string;
}

interface SearchedFile {
  readonly sink: string;
  readonly path: string;
  /** What the letters stand at. */
  readonly index: LetterIndex;
}

/**
 * The open letters of one file for which the condition holds, the last one first, from a place on. Letters may be kept and
 * marked meanwhile, and the file may be rewritten between two pages: then the place is found again by id and time, and
 * letters of the same millisecond may come twice.
 */
export async function searchFile(
  { sink, path, index }: SearchedFile,
  isChosen: (letter: OpenLetter) => boolean,
  { after, ...bounds }: SearchBounds & { readonly after: LetterPlace | undefined },
): Promise<LetterPage & { readonly bytes: number }> {
  const handle = await openIfThere(path);
  if (handle === undefined) return { letters: [], next: undefined, bytes: 0 };
  try {
    const { size } = await handle.stat();
    const isKnown = after !== undefined && (await isAt(handle, after, size));
    const search = new Search(sink, index, isChosen, bounds);
    // In a file that was rewritten everything up to the place is left out.
    if (after !== undefined && !isKnown) search.skipTo(after);
    return await search.from(handle, isKnown ? after.offset : size);
  } finally {
    await handle.close();
  }
}

class Search {
  readonly #sink: string;
  readonly #index: LetterIndex;
  /** It does not ask for the state. */
  readonly #isChosen: (letter: OpenLetter) => boolean;
  readonly #bounds: SearchBounds;
  readonly #letters = new Map<string, OpenLetter>();
  #last: LetterPlace | undefined;
  #skipped: LetterPlace | undefined;

  constructor(sink: string, index: LetterIndex, isChosen: (letter: OpenLetter) => boolean, bounds: SearchBounds) {
    this.#sink = sink;
    this.#index = index;
    this.#isChosen = isChosen;
    this.#bounds = bounds;
  }

  skipTo(place: LetterPlace): void {
    this.#skipped = place;
  }

  async from(handle: FileHandle, end: number): Promise<LetterPage & { readonly bytes: number }> {
    const { bytes, milliseconds = Number.POSITIVE_INFINITY } = this.#bounds;
    const deadline = performance.now() + milliseconds;
    let left = end;
    for await (const lines of linesBackwards(handle, end, longestLine)) {
      for (const line of lines) {
        left = line.start;
        this.#read(line);
        if (this.#letters.size >= this.#bounds.limit) return this.#page(end - left, this.#last);
      }
      // While the place is looked for there is nothing to go on behind.
      const isOver = end - left >= bytes || performance.now() >= deadline;
      if (isOver && this.#last !== undefined) return this.#page(end - left, this.#last);
    }
    return this.#page(end - left, undefined);
  }

  #read({ start, text }: PlacedLine): void {
    const { holding } = this.#bounds;
    if (text === undefined || (holding !== undefined && !text.includes(holding))) return;
    const record = recordOf(text.toString());
    if (record !== undefined) this.#look(record, start);
  }

  #page(bytes: number, next: LetterPlace | undefined) {
    return { letters: [...this.#letters.values()], next, bytes };
  }

  #look(record: LetterRecord, offset: number): void {
    const { id, time } = record;
    if (this.#skipped !== undefined) {
      const isPlace = id === this.#skipped.id && time === this.#skipped.time;
      if (!isPlace && !(Date.parse(time) <= Date.parse(this.#skipped.time))) return;
      this.#skipped = undefined;
      if (isPlace) return;
    }
    this.#last = { sink: this.#sink, offset, id, time };
    // What it stands at is looked up by a hash, which takes longer.
    if (isMark(record) || !this.#isChosen({ ...record, state: "waiting" })) return;
    const letter = this.#letters.has(id) ? undefined : this.#index.openLetter(record);
    if (letter !== undefined) this.#letters.set(id, letter);
  }
}

const headBytes = 4096;

/** Whether the line of the place is still where it was. */
async function isAt(handle: FileHandle, { offset, id }: LetterPlace, size: number): Promise<boolean> {
  if (offset >= size) return false;
  const from = Math.max(0, offset - 1);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, from);
  const text = buffer.subarray(0, bytesRead).toString();
  const line = offset === 0 ? text : text.startsWith("\n") ? text.slice(1) : "";
  return line.startsWith("{") && line.includes(`"id":${JSON.stringify(id)}`);
}
