import { writeSync } from "node:fs";
import { codeOf } from "../sdk/index.js";
import type { LineStream } from "./rotating-file.js";

/** Writes bytes and returns how many were taken; throws the error of the system. */
type Write = (bytes: Uint8Array) => number;

/** Milliseconds between two attempts to write to a reader that is behind. */
const PAUSE = 10;

/**
 * The standard output of the process, written synchronously: it waits for a reader that is behind, and ends with one that is gone.
 * Of the lines that come while it takes none, as on a disk that is full, it keeps one: without an end they would fill the memory.
 */
export class StandardOutput implements LineStream {
  readonly #write: Write;
  #kept: Uint8Array = nothing;
  #isClosed = false;

  constructor(write: Write = (bytes) => writeSync(1, bytes)) {
    this.#write = write;
  }

  write(text: string): void {
    if (this.#kept.length > 0) this.#put(this.#kept);
    this.#put(Buffer.from(text));
  }

  #put(bytes: Uint8Array): void {
    this.#kept = bytes;
    while (this.#kept.length > 0 && !this.#isClosed) this.#kept = this.#kept.subarray(this.#taken());
  }

  #taken(): number {
    try {
      return this.#write(this.#kept);
    } catch (error) {
      const code = codeOf(error);
      if (code === "EPIPE") this.#isClosed = true;
      else if (code !== "EAGAIN") throw error;
      else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE);
      return 0;
    }
  }
}

const nothing = new Uint8Array(0);
