import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Of a file that cannot be read. */
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

function hashNow(path: string): string {
  try {
    return hashOf(readFileSync(path, "utf8"));
  } catch {
    return UNREADABLE;
  }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
