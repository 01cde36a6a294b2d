import { codeOf } from "deneb/sdk";
import type { Statement } from "deneb/sql";
import { isCopyable } from "./copies.js";
import type { NameOf } from "./messages.js";

/** For one connection; each takes about 100 KB of its server process, for a table with 20 columns. */
const MOST_NAMES = 200;
/** Texts that were seen once. */
const MOST_SEEN = 1000;
/** A shorter text is read faster than it is looked up. */
const SHORTEST = 200;
/** Names are given anew after this number of writes in which texts had to go without: tables come and go. */
const WRITES_WITHOUT = 1000;

/** What the server says of a statement that it knows no longer, knows already, or has read for other types of columns. */
const STALE = new Set(["26000", "42P05", "42804", "42P18", "0A000"]);

/**
 * The statements that one connection has given names, so that the server reads and plans them once: those of last data take a third of
 * the time then. Not through a pooler, which may lend the connection to somebody else.
 */
export class NamedTexts {
  readonly #names = new Map<string, string>();
  /** Of the write that is running. */
  readonly #new = new Map<string, string>();
  #seen = new Set<string>();
  #writesWithout = 0;
  #isWithout = false;

  readonly of: NameOf = (statement) => {
    if (!mayHaveName(statement)) return undefined;
    const { text } = statement;
    const known = this.#names.get(text) ?? this.#new.get(text);
    if (known !== undefined) return { name: known, isNew: false };
    if (!this.#seen.has(text)) return this.#see(text);
    const number = this.#names.size + this.#new.size;
    if (number >= MOST_NAMES) {
      this.#isWithout = true;
      return undefined;
    }
    this.#seen.delete(text);
    const name = `deneb_${number}`;
    this.#new.set(text, name);
    return { name, isNew: true };
  };

  /** The write that was running is over: its statements have their names. */
  written(): void {
    for (const [text, name] of this.#new) this.#names.set(text, name);
    this.#new.clear();
    if (this.#isWithout) this.#writesWithout += 1;
    this.#isWithout = false;
    if (this.#writesWithout >= WRITES_WITHOUT) this.forget();
  }

  /** It failed at a statement: the server may know some of the new ones. Whether it may succeed with texts. */
  failed(statement: Statement | undefined, error: unknown): boolean {
    this.#new.clear();
    const isStale = statement !== undefined && this.#names.has(statement.text) && STALE.has(codeOf(error) ?? "");
    if (isStale) this.forget();
    return isStale;
  }

  /** A name that the server still knows is closed before it is given again. */
  forget(): void {
    this.#names.clear();
    this.#new.clear();
    this.#writesWithout = 0;
  }

  #see(text: string): undefined {
    if (this.#seen.size >= MOST_SEEN) this.#seen = new Set();
    this.#seen.add(text);
  }
}

/** Whether the server may take longer to read it than to run it. */
export function mayHaveName(statement: Statement): boolean {
  const { text, runs } = statement;
  return text.length >= SHORTEST && (runs[0]?.length ?? 0) > 0 && !isCopyable(statement);
}
