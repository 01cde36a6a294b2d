import type { DeadLetters, LetterEntry } from "../../pipeline/dead-letters/dead-letters.js";
import { isOpen } from "../../pipeline/dead-letters/letter-table.js";

/** Letters that were not sent and may be marked nevertheless, in a log that agents share too. Nobody else would send them. */
export class UnsentLetters {
  readonly #letters: Pick<DeadLetters, "entry" | "mark">;
  readonly #bySink = new Map<string, Set<string>>();

  constructor(letters: Pick<DeadLetters, "entry" | "mark">) {
    this.#letters = letters;
  }

  /** Whether there are any of a sink. */
  has(sink: string): boolean {
    return this.#bySink.has(sink);
  }

  note(sink: string, letters: Iterable<{ readonly id: string }>): void {
    const unsent = this.#bySink.get(sink) ?? new Set();
    for (const { id } of letters) unsent.add(id);
    if (unsent.size > 0) this.#bySink.set(sink, unsent);
  }

  /** These are on their way now. */
  forget(sink: string, ids: Iterable<string>): void {
    const unsent = this.#bySink.get(sink);
    if (unsent === undefined) return;
    for (const id of ids) unsent.delete(id);
    if (unsent.size === 0) this.#bySink.delete(sink);
  }

  /** Those that turn out to be marked wait again. Those that do not are looked at the next time: their mark may be underway. */
  async takeBack(sink: string): Promise<void> {
    const settled: string[] = [];
    const marked: string[] = [];
    for (const id of this.#bySink.get(sink) ?? []) {
      const entry = await this.#letters.entry(sink, id);
      if (entry === undefined || !isOpen(entry)) settled.push(id);
      else if (isMarkedHere(entry)) marked.push(id);
    }
    this.forget(sink, settled);
    this.forget(sink, await this.#letters.mark(sink, marked, "waiting", isMarkedHere));
  }
}

/** By this process; by none while it is not known which it is, as when its log is not open. */
function isMarkedHere(entry: LetterEntry | undefined): boolean {
  return entry?.mark === "replaying" && entry.mine;
}
