import { closeSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import path from "node:path";
import { codeOf } from "../sdk/index.js";
import { type CrashMark, keyOf, lineOf, marksIn } from "./crash-mark.js";
import { HandOvers } from "./hand-overs.js";

/**
 * Remembers over a crash which events were in the hands of which sink. One small file with a line of fixed length for each
 * sink is written over in place, without fsync: a crash of the process keeps the page cache, and after a crash of the
 * machine there is no suspicion.
 *
 * A mark counts only when the process died before the event loop turned after the hand-over. Who only waits for a store
 * is never suspected, however the process ends.
 */
export class CrashWatch {
  readonly #file: string;
  readonly #sinks = new Map<string, HandOvers>();
  #before: ReadonlyMap<string, CrashMark> = new Map();
  #handle: number | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** Reads what the process before left, and begins to watch this one. */
  open(): void {
    if (this.#handle !== undefined) return;
    this.#before = marksIn(this.#read());
    mkdirSync(path.dirname(this.#file), { recursive: true });
    this.#handle = openSync(this.#file, "w", 0o600);
    process.on("exit", this.#died);
    process.on("uncaughtExceptionMonitor", this.#died);
    // The marks stay when this process dies before a sink hands anything over.
    for (const key of this.#before.keys()) this.#ofKey(key);
  }

  /** From now on an end of the process was asked for and is no evidence. */
  leave(): void {
    process.off("exit", this.#died);
    process.off("uncaughtExceptionMonitor", this.#died);
  }

  /** To be called when all sinks have stopped: nothing is in the hands of a sink. */
  close(): void {
    this.leave();
    for (const sink of this.#sinks.values()) sink.close();
    this.#sinks.clear();
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
  }

  /** What is in the hands of this sink. */
  of(sink: string): HandOvers {
    return this.#ofKey(keyOf(sink));
  }

  #ofKey(sink: string): HandOvers {
    const known = this.#sinks.get(sink);
    if (known !== undefined) return known;
    const row = this.#sinks.size;
    const write = (mark: CrashMark) => {
      const line = lineOf(mark);
      if (this.#handle !== undefined) writeSync(this.#handle, line, 0, line.length, row * line.length);
    };
    const made = new HandOvers({ sink, before: this.#before.get(sink), write, place: { file: this.#file, row } });
    this.#sinks.set(sink, made);
    return made;
  }

  #read(): string {
    try {
      return readFileSync(this.#file, "latin1");
    } catch (error) {
      if (codeOf(error) === "ENOENT") return "";
      throw error;
    }
  }

  readonly #died = (): void => {
    for (const sink of this.#sinks.values()) sink.died();
  };
}
