import { AgentError, type Logger, reasonOf } from "../../sdk/index.js";
import type { Clock } from "../../tokens.js";
import { LetterBook, type LetterCounts } from "./book.js";
import { type DeadLetter, type LetterMark, type LetterRecord, lineOf } from "./dead-letter.js";
import type { DeadLetterFile } from "./file.js";
import { type DeadLetterLimits, LetterAge, lettersFull } from "./limits.js";
import { isOpen, type LetterEntry } from "./table.js";

/** Milliseconds after which the text of stored letters is removed from a file. */
const tidyDelay = 10_000;
/** Rewriting a file takes no more than this share of the time. */
const tidyShare = 0.05;
/** A larger file is not rewritten while the agent stops; the next start does it. */
const mostBytesAtStop = 67_108_864;
/** Letters that one line of work handles at once. */
const lettersAtOnce = 1000;

/** Given what a letter stands at, whether it is marked. */
export type MarkCondition = (entry: LetterEntry | undefined) => boolean;

export interface ShelfParts {
  readonly sink: string;
  readonly file: DeadLetterFile;
  /** Of this process. */
  readonly run: string;
  readonly limits: DeadLetterLimits;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds since some moment; nobody sets them. */
  readonly uptime: () => number;
}

/** The dead letters of one sink: one file, changed by one after another. */
export class LetterShelf {
  readonly #parts: ShelfParts;
  readonly #age: LetterAge | undefined;
  readonly #stopping = new AbortController();
  #book: LetterBook | undefined;
  #changes: Promise<unknown> = Promise.resolve();
  #compactions: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #restUntil = 0;

  constructor(parts: ShelfParts) {
    this.#parts = parts;
    const { limits, clock, uptime } = parts;
    this.#age = limits.days === 0 ? undefined : new LetterAge(limits.days, clock, uptime);
  }

  /** Mends what a crash left and reads what is there. */
  async start(): Promise<void> {
    const { file, sink, log } = this.#parts;
    await this.#inTurn(() => file.mend());
    const { unreadable, settledTexts } = await this.book();
    if (unreadable > 0) log.warn({ sink, lines: unreadable, file: file.path }, "dead letters that cannot be read stay");
    if (settledTexts > 0) this.#tidyLater();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    const { settledTexts = 0, bytes = 0 } = this.#book ?? {};
    if (settledTexts > 0 && bytes <= mostBytesAtStop) await this.#tidy();
    this.#stopping.abort();
    await this.#compactions;
    await this.#changes;
  }

  async book(): Promise<LetterBook> {
    return await this.#inTurn(() => this.#read());
  }

  /** Undefined until the file was read once. */
  counts(): LetterCounts | undefined {
    return this.#book?.counts(this.#parts.sink);
  }

  /** Keeps all of these letters; throws code DEAD_LETTERS_FULL when there is no room for them, and keeps none. */
  async keep(letters: readonly DeadLetter[]): Promise<void> {
    await this.#inTurn(async () => {
      const book = await this.#read();
      const before = letters.map(({ id }) => book.entry(id));
      const records = letters.map((letter, index) => {
        const entry = before[index];
        return entry?.mark === "replaying" ? { ...letter, replays: entry.replays + 1 } : letter;
      });
      const fresh = records.filter((_record, index) => {
        const entry = before[index];
        return entry === undefined || !isOpen(entry);
      });
      await this.#add(records, await this.#withRoom(fresh, book));
    });
  }

  /** Marks the letters for which the condition holds at that moment; resolves to their ids. */
  async mark(ids: readonly string[], mark: LetterMark["mark"], when: MarkCondition = () => true): Promise<string[]> {
    const { clock, run } = this.#parts;
    const marked: string[] = [];
    for (let at = 0; at < ids.length; at += lettersAtOnce) {
      await this.#inTurn(async () => {
        const book = await this.#read();
        const chosen = ids.slice(at, at + lettersAtOnce).filter((id) => when(book.entry(id)));
        const time = clock.now().toISOString();
        await this.#add(
          chosen.map((id) => ({ id, mark, time, run })),
          book,
        );
        for (const id of chosen) marked.push(id);
      });
    }
    return marked;
  }

  /** Writes the file anew without the letters that are settled. Letters may be kept and marked meanwhile. */
  async compact(): Promise<void> {
    const work = this.#compactions.then(() => this.#compact());
    this.#compactions = work.catch(() => undefined);
    await work;
  }

  /** Removes letters that are too old, when the operator asked for it. */
  async removeOld(): Promise<void> {
    if (this.#age === undefined) return;
    const { sink, file, log, limits } = this.#parts;
    const { cutoff, state } = this.#age.look();
    const book = await this.book();
    const { oldest } = book.counts(sink);
    if (oldest === undefined || oldest.getTime() >= cutoff || state === "waiting") return;
    if (state === "begun") {
      const fields = { sink, oldest: oldest.toISOString(), days: limits.days };
      log.warn(fields, "dead letters are too old and will be removed when they still are after a day of uptime");
      return;
    }
    const ids: string[] = [];
    for await (const { id, time, state } of file.open()) {
      if (state === "waiting" && Date.parse(time) < cutoff) ids.push(id);
    }
    const { length: deleted } = await this.mark(ids, "dropped", (entry) => entry?.mark === "waiting");
    book.deleted += deleted;
    log.error({ sink, letters: deleted, days: limits.days }, "dead letters removed: they were too old");
    await this.compact();
  }

  /** The book, when there is room; that of the present file when somebody removed it. */
  async #withRoom(letters: readonly LetterRecord[], book: LetterBook): Promise<LetterBook> {
    const { sink, limits, file } = this.#parts;
    const added = letters.reduce((sum, letter) => sum + Buffer.byteLength(lineOf(letter)), 0);
    const fits = ({ bytes }: LetterBook) => limits.bytes === 0 || added === 0 || bytes + added <= limits.bytes;
    if (fits(book)) return book;
    if (!(await file.exists())) {
      this.#book = undefined;
      const empty = await this.#read();
      if (fits(empty)) return empty;
    }
    throw lettersFull({ sink, held: book.bytes, added, limit: limits.bytes });
  }

  async #add(records: readonly LetterRecord[], book: LetterBook): Promise<void> {
    if (records.length === 0) return;
    const { file } = this.#parts;
    try {
      await file.append(records);
    } catch (cause) {
      const message = `writing dead letters to "${file.path}"`;
      throw new AgentError("DEAD_LETTERS_UNWRITABLE", message, { cause, retryable: true });
    }
    for (const record of records) book.note(record, Buffer.byteLength(lineOf(record)));
    if (book.settledTexts > 0) this.#tidyLater();
  }

  #tidyLater(): void {
    if (this.#stopping.signal.aborted || this.#timer !== undefined) return;
    const delay = Math.max(tidyDelay, this.#restUntil - this.#parts.uptime());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#tidy();
    }, delay).unref();
  }

  async #tidy(): Promise<void> {
    try {
      await this.compact();
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      const { sink, log } = this.#parts;
      log.error({ sink, reason: reasonOf(error) }, "settled dead letters could not be removed, will be tried again");
      this.#tidyLater();
    }
  }

  async #compact(): Promise<void> {
    const { file, uptime } = this.#parts;
    const startedAt = uptime();
    const book = await this.book();
    let texts = 0;
    try {
      const write = await this.#inTurn(async () => {
        texts = book.settledTexts;
        book.settledTexts = 0;
        return texts === 0 ? undefined : await file.beginDraft(this.#stopping.signal);
      });
      const draft = await write?.();
      if (draft === undefined) return;
      await this.#inTurn(() => draft.finish());
      book.forgetSettled();
    } catch (error) {
      book.settledTexts += texts;
      throw error;
    } finally {
      const now = uptime();
      this.#restUntil = now + (now - startedAt) / tidyShare;
    }
  }

  async #read(): Promise<LetterBook> {
    this.#book ??= new LetterBook(await this.#parts.file.contents());
    return this.#book;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#changes.then(work);
    this.#changes = turn.catch(() => undefined);
    return await turn;
  }
}
