import { closeSync, openSync, readFileSync } from "node:fs";
import path from "node:path";
import { refuseNewerFormat } from "../files/format-version.js";
import { makeFolderSync } from "../files/make-folder.js";
import { refuseNoFileSync } from "../files/regular-file.js";
import { AgentError, codeOf } from "../sdk/index.js";
import { type CrashMark, InHand, keyOf, type MarkFile, markStates, STATE_BYTES } from "./in-hand.js";

/**
 * Remembers over a crash which events were in the hands of which sink. One small file with a line of fixed length for each
 * sink is written over in place, without fsync: a crash of the process keeps the page cache, and after a crash of the
 * machine there is no suspicion.
 *
 * A mark counts only when the process died before the event loop turned after the hand-over. Who only waits for a store
 * is never suspected, however the process ends.
 */
export class CrashWatch {
  readonly #marks: MarkFile;
  readonly #sinks = new Map<string, InHand>();
  #before: ReadonlyMap<string, CrashMark> = new Map();

  constructor(file: string) {
    this.#marks = { path: file };
  }

  /** Reads what the process before left, and begins to watch this one. */
  open(): void {
    if (this.#marks.handle !== undefined) return;
    this.#before = marksIn(readMarks(this.#marks.path));
    makeFolderSync(path.dirname(this.#marks.path));
    this.#marks.handle = openSync(this.#marks.path, "w", 0o600);
    // Comes after an uncaught exception as well, unless the agent goes on.
    process.on("exit", this.#died);
    // The marks stay when this process dies before a sink hands anything over.
    for (const key of this.#before.keys()) this.#ofKey(key);
  }

  /** From now on an end of the process was asked for and is no evidence. */
  leave(): void {
    process.off("exit", this.#died);
  }

  /** To be called when all sinks have stopped: nothing is in the hands of a sink. */
  close(): void {
    this.leave();
    for (const sink of this.#sinks.values()) sink.close();
    this.#sinks.clear();
    if (this.#marks.handle !== undefined) closeSync(this.#marks.handle);
    this.#marks.handle = undefined;
  }

  /** What is in the hands of this sink. */
  of(sink: string): InHand {
    return this.#ofKey(keyOf(sink));
  }

  #ofKey(sink: string): InHand {
    const known = this.#sinks.get(sink);
    if (known !== undefined) return known;
    const place = { file: this.#marks, row: this.#sinks.size };
    const made = new InHand({ sink, before: this.#before.get(sink), place });
    this.#sinks.set(sink, made);
    return made;
  }

  readonly #died = (): void => {
    for (const sink of this.#sinks.values()) sink.died();
  };
}

/** The text of a file of marks, which a later version begins with `version <number>`; empty without a file. */
export function readMarks(file: string): string {
  const text = textOf(file);
  const version = /^version (\d+)/.exec(text)?.[1];
  refuseNewerFormat({ file, found: version === undefined ? undefined : Number(version), known: VERSION });
  return text;
}

function textOf(file: string): string {
  refuseNoFileSync(file);
  try {
    return readFileSync(file, "latin1");
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return "";
    throw new AgentError("FILE_NOT_READ", `reading "${file}" (it may be moved away)`, { cause, retryable: false });
  }
}

/** The marks of a file by the key of their sink; a line that is damaged is no mark. */
function marksIn(text: string): ReadonlyMap<string, CrashMark> {
  return new Map(text.split("\n").flatMap((line) => markIn(line) ?? []));
}

function markIn(line: string): readonly [readonly [string, CrashMark]] | undefined {
  const written = line.slice(0, STATE_BYTES).trim();
  const state = markStates.find((known) => known === written);
  const [key = "", first = "", count = "", deaths = ""] = line.slice(STATE_BYTES).trim().split(" ");
  if (state === undefined || !HASH.test(key) || !HASH.test(first)) return undefined;
  if (!NUMBER.test(count) || !NUMBER.test(deaths)) return undefined;
  return [[key, { sink: key, first, count: Number(count), state, deaths: Number(deaths) }]];
}

/** Version of the file. The first one does not name it. */
const VERSION = 1;
const HASH = /^[0-9a-f]{32}$/;
const NUMBER = /^\d{1,9}$/;
