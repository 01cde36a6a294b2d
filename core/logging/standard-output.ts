import { constants, fstatSync, openSync, writeSync } from "node:fs";
import { isatty } from "node:tty";
import { codeOf } from "../sdk/index.js";
import type { LineStream } from "./rotating-file.js";

/** Where the bytes go. */
interface ByteOutput {
  /** Returns how many of the bytes were taken; throws the error of the system. */
  write(bytes: Uint8Array): number;
  /** Lets a little time pass for a reader that is behind. */
  pause(): void;
}

const PAUSE = 10;
/** Pauses for one line, two seconds together. */
const MOST_PAUSES = 200;

let opened: number | undefined;

/**
 * The pipe or terminal of the standard output, opened anew: whether a write waits for a reader is a property of the opened file. The
 * one that was inherited is shared with all workers and with a shell, and each of them may change it for all. It is asked for big
 * numbers: after plain ones about a pipe Node 20 takes links for files where it finds modules.
 */
function ownDescriptor(): number {
  try {
    if (!isatty(1) && !fstatSync(1, { bigint: true }).isFIFO()) return 1;
    return openSync("/proc/self/fd/1", constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    // No such way on this system, another user's terminal, or nobody reads any more.
    return 1;
  }
}

const ownOutput: ByteOutput = {
  write: (bytes) => {
    opened ??= ownDescriptor();
    return writeSync(opened, bytes);
  },
  pause: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE),
};

/**
 * The standard output of the process, written synchronously. A reader that is gone is no reason to fail; for one that is behind
 * it waits, but not again before that has read: the agent must not stand still with it. Of the lines that come while nothing is
 * taken, as on a disk that is full, one is kept: without an end they would fill the memory.
 */
export class StandardOutput implements LineStream {
  readonly #output: ByteOutput;
  #kept: Uint8Array = nothing;
  #isClosed = false;

  constructor(output = ownOutput) {
    this.#output = output;
  }

  /** Throws the error of the system. */
  write(text: string): void {
    if (this.#kept.length > 0) this.#put(this.#kept, 0);
    this.#put(Buffer.from(text), MOST_PAUSES);
  }

  #put(bytes: Uint8Array, mostPauses: number): void {
    this.#kept = bytes;
    for (let pauses = mostPauses; this.#kept.length > 0 && !this.#isClosed; pauses -= 1) {
      this.#kept = this.#kept.subarray(this.#taken(pauses > 0));
    }
  }

  #taken(mayPause: boolean): number {
    try {
      return this.#output.write(this.#kept);
    } catch (error) {
      const code = codeOf(error);
      if (code === "EPIPE") this.#isClosed = true;
      else if (code !== "EAGAIN" || !mayPause) throw error;
      else this.#output.pause();
      return 0;
    }
  }
}

const nothing = new Uint8Array(0);
