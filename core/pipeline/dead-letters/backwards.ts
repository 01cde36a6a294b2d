import type { FileHandle } from "node:fs/promises";

const lineEnd = 10;
const readStep = 262_144;

/** A whole line without its line feed. */
export interface PlacedLine {
  /** The offset of its first byte in the file. */
  readonly start: number;
  /** Undefined when it is too long to be read. */
  readonly text: Buffer | undefined;
}

/**
 * The whole lines in the first `size` bytes of an open file, the last one first, as many together as one read brings. What
 * follows the last line feed is left out: it was never written completely.
 */
export async function* linesBackwards(
  file: FileHandle,
  size: number,
  longestLine: number,
): AsyncGenerator<readonly PlacedLine[]> {
  const line = new GrowingLine(longestLine);
  for (let at = size; at > 0; ) {
    const length = Math.min(readStep, at);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at - length);
    if (bytesRead < length) return;
    at -= length;
    yield linesIn(buffer, at, line);
  }
}

/** The lines that begin in a part of a file; what is before the first line feed of the part is left in the growing line. */
function linesIn(part: Buffer, at: number, line: GrowingLine): readonly PlacedLine[] {
  const lines: PlacedLine[] = [];
  let to = part.length;
  while (to > 0) {
    const end = part.lastIndexOf(lineEnd, to - 1);
    if (end === -1) break;
    line.begin(part.subarray(end + 1, to));
    push(lines, line.finish(), at + end + 1);
    to = end;
  }
  line.begin(part.subarray(0, to));
  if (at === 0) push(lines, line.finish(), 0);
  return lines;
}

function push(lines: PlacedLine[], text: Buffer | "torn" | undefined, start: number): void {
  if (text !== "torn") lines.push({ start, text });
}

/** A line that is read from its end. */
class GrowingLine {
  readonly #longest: number;
  #pieces: Buffer[] = [];
  #length = 0;
  /** True until the last line feed of the file was found. */
  #isTorn = true;

  constructor(longest: number) {
    this.#longest = longest;
  }

  /** Puts bytes before those that are known. */
  begin(bytes: Buffer): void {
    this.#length += bytes.length;
    if (this.#isTorn || this.#length > this.#longest) this.#pieces = [];
    else this.#pieces.push(bytes);
  }

  /** Its first byte is known. */
  finish(): Buffer | "torn" | undefined {
    const text = this.#isTorn ? "torn" : this.#length > this.#longest ? undefined : this.#joined();
    this.#isTorn = false;
    this.#pieces = [];
    this.#length = 0;
    return text;
  }

  #joined(): Buffer {
    const [only] = this.#pieces;
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces.toReversed());
  }
}
