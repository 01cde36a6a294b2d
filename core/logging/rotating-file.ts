import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import path from "node:path";

export interface RotatingFileOptions {
  readonly file: string;
  /** Size in bytes at which a new file is started. */
  readonly maxFileSize: number;
  /** Number of files that are kept, the current one included. */
  readonly maxFiles: number;
}

/** A file that lines are appended to. When it is full it is renamed to `<file>.1`, the older one to `<file>.2` and so on. */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #open: { readonly descriptor: number; size: number } | undefined;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /** Writes synchronously, so that the lines before a crash are in the file. Throws the error of the system. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    const full = this.#opened();
    if (full.size > 0 && full.size + bytes.length > this.#options.maxFileSize) this.#rotate();
    const current = this.#opened();
    for (let from = 0; from < bytes.length; ) from += writeSync(current.descriptor, bytes, from);
    current.size += bytes.length;
  }

  /** Can be called twice; a later write opens the file again. */
  close(): void {
    if (this.#open !== undefined) closeSync(this.#open.descriptor);
    this.#open = undefined;
  }

  #opened(): { readonly descriptor: number; size: number } {
    if (this.#open !== undefined) return this.#open;
    mkdirSync(path.dirname(this.#options.file), { recursive: true });
    const descriptor = openSync(this.#options.file, "a", 0o640);
    this.#open = { descriptor, size: fstatSync(descriptor).size };
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
