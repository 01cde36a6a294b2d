import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";

/** Of a file that cannot be read, or not again, or that holds nothing. */
const UNREADABLE = "";

/** Files that variables such as `AGENT_RDB_PASS_FILE` name, and what a configuration has read in them. */
export class NamedFiles {
  /** Hashes, by path: most of these files are secrets. */
  #read = new Map<string, string>();
  /** What was found instead at the last look. */
  #found = new Map<string, string>();

  /** A configuration is about to be read. */
  begin(): void {
    this.#read = new Map();
    this.#found = new Map();
  }

  /** The text of a file; throws when it cannot be read. */
  text(path: string): string {
    this.#read.set(path, UNREADABLE);
    const text = readFileSync(path, "utf8");
    this.#read.set(path, hashOf(text));
    return text;
  }

  /** Whether one of them holds something else than was read, and held the same at the look before: it is not being written now. */
  isChanged(): boolean {
    const before = this.#found;
    this.#found = new Map();
    for (const [path, read] of this.#read) {
      const now = hashNow(path);
      if (now !== UNREADABLE && now !== read) this.#found.set(path, now);
    }
    return [...this.#found].some(([path, found]) => before.get(path) === found);
  }
}

/** A pipe is read once: a second time it would block, or be empty. A file that holds nothing is about to be written. */
function hashNow(path: string): string {
  try {
    // Big numbers, as in core/logging/standard-output.ts: it may be a pipe.
    if (!statSync(path, { bigint: true }).isFile()) return UNREADABLE;
    const text = readFileSync(path, "utf8");
    return text.trim() === "" ? UNREADABLE : hashOf(text);
  } catch {
    return UNREADABLE;
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
