import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { makeFolderSync } from "../files/make-folder.js";

/** A stream for lines: the standard output of the process, or a replacement in a test. */
export interface LineStream {
  write(text: string): void;
}

export interface ClosableStream extends LineStream {
  close(): void;
}

interface RotatingFileOptions {
  readonly file: string;
  /** Size in bytes at which a new file is started. */
  readonly maxFileSize: number;
  /** Number of files that are kept, the current one included. */
  readonly maxFiles: number;
}

interface OpenFile {
  readonly descriptor: number;
  /** Which file it is, whatever its name is by now. */
  readonly identity: string;
  size: number;
}

/**
 * A file that lines are appended to. When it is full it is renamed to `<file>.1`, the older one to `<file>.2` and so on.
 * Others may rename, remove or empty it at any time, as logrotate does: the next line goes to a file of that name.
 */
export class RotatingFile implements ClosableStream {
  readonly #options: RotatingFileOptions;
  #open: OpenFile | undefined;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /**
   * Writes synchronously, so that the lines before a crash are in the file. Throws the error of the system: when files cannot be
   * renamed, after the line was written to the file that is full.
   */
  write(text: string): void {
    const bytes = Buffer.from(text);
    const { size } = this.#current();
    const isFull = size > 0 && size + bytes.length > this.#options.maxFileSize;
    try {
      if (isFull) this.#rotate();
    } finally {
      this.#append(bytes);
    }
  }

  #append(bytes: Buffer): void {
    const current = this.#open ?? this.#opened();
    for (let from = 0; from < bytes.length; ) from += writeSync(current.descriptor, bytes, from);
    current.size += bytes.length;
  }

  /** Can be called twice; a later write opens the file again. */
  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.descriptor);
    this.#open = undefined;
  }

  /** The open file, unless another one, or none, has its name now. */
  #current(): OpenFile {
    const open = this.#open;
    if (open === undefined) return this.#opened();
    const named = foundAt(this.#options.file);
    // Without an answer of the system the lines stay where they are.
    if (named === "unknown") return open;
    if (named?.identity === open.identity) {
      open.size = named.size;
      return open;
    }
    this.close();
    return this.#opened();
  }

  #opened(): OpenFile {
    makeFolderSync(path.dirname(this.#options.file));
    const descriptor = openedToAppend(this.#options.file);
    const { dev, ino, size } = fstatSync(descriptor, { bigint: true });
    this.#open = { descriptor, identity: `${dev}:${ino}`, size: Number(size) };
    return this.#open;
  }

  #rotate(): void {
    const { file, maxFiles } = this.#options;
    this.close();
    for (let number = maxFiles - 1; number > 0; number -= 1) {
      const older = number === 1 ? file : `${file}.${number - 1}`;
      if (existsSync(older)) renameSync(older, `${file}.${number}`);
    }
    if (maxFiles < 2) rmSync(file);
  }
}

/** To open a pipe that nobody reads would hold up the process: it throws `ENXIO`. One that is read takes all lines. */
function openedToAppend(file: string): number {
  const isPipe = statSync(file, { bigint: true, throwIfNoEntry: false })?.isFIFO() === true;
  const asked = isPipe ? openSync(file, constants.O_WRONLY | constants.O_NONBLOCK) : undefined;
  try {
    return openSync(file, "a", 0o640);
  } finally {
    if (asked !== undefined) closeSync(asked);
  }
}

function foundAt(file: string): Pick<OpenFile, "identity" | "size"> | "unknown" | undefined {
  try {
    const found = statSync(file, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? undefined : { identity: `${found.dev}:${found.ino}`, size: Number(found.size) };
  } catch {
    return "unknown";
  }
}
