import type { LogPart, LogRecord, ReadLimits } from "deneb/log";
import { type Asked, Collection, type Records } from "./collection.js";
import type { Cursor } from "./cursor.js";
import { Cursors } from "./cursors.js";
import { NobodyAnswers } from "./errors.js";
import type { Identity } from "./identity.js";
import type { Link } from "./link.js";
import type { Parts } from "./parts.js";
import type { StreamRecords } from "./records.js";
import type { Subjects } from "./subjects.js";

/** How many records are under way at the same time. */
const AT_ONCE = 16;
/** Milliseconds after which a record that was announced and does not come is asked for in another way. */
const LATE_MILLIS = 100;

interface Reading {
  readonly link: Link;
  readonly stream: string;
  readonly subjects: Subjects;
  readonly identity: Identity;
  readonly parts: Parts;
  readonly records: StreamRecords;
  /** Called with each record that is read. */
  readonly saw: (part: LogPart, offset: number) => void;
}

/** A record that was read and did not fit into the answer any more: the first one from `from` on. */
interface Spare {
  readonly from: number;
  readonly record: LogRecord;
}

/**
 * Reads records one by one, each by its subject and the sequence from which on it is wanted; that finds each record, and tells that
 * there is none. Where much is to be read a cursor brings more at once.
 */
export class Reader {
  readonly #of: Reading;
  readonly #spare = new Map<LogPart, Spare>();
  readonly #cursors: Cursors;
  #begin = 0;

  constructor(of: Reading) {
    this.#of = of;
    this.#cursors = new Cursors({ ...of, arrived: () => of.parts.wake() });
  }

  async read(
    from: ReadonlyMap<LogPart, number>,
    { bytes, waitMillis }: ReadLimits,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<LogPart, readonly LogRecord[]>> {
    const end = performance.now() + waitMillis;
    // Those of the events; what agents tell each other has none.
    if ([...from.keys()].some((part) => typeof part === "number")) this.#cursors.keep(from);
    for (;;) {
      if (signal.aborted) return new Map();
      await this.#of.identity.assured("reading records");
      const records = await this.#due(from, bytes, signal);
      if (records.size > 0 || performance.now() >= end) return records;
      await this.#of.parts.change(from.keys(), end, signal);
    }
  }

  async #due(from: ReadonlyMap<LogPart, number>, bytes: number, signal: AbortSignal): Promise<Records> {
    const now = performance.now();
    const due = [...from].filter(
      ([part, offset]) =>
        this.#spare.has(part) ||
        this.#cursors.find(part, offset)?.peek(offset) !== undefined ||
        this.#of.parts.due(part, offset, now),
    );
    // Another part begins each time, so that none waits behind those that fill the answer.
    this.#begin += 1;
    const turn = this.#begin % Math.max(1, due.length);
    return await this.#collected(new Collection([...due.slice(turn), ...due.slice(0, turn)], bytes), signal);
  }

  /** Each part gives some, and then more when its turn comes again. */
  async #collected(collection: Collection, signal: AbortSignal): Promise<Records> {
    const failures: unknown[] = [];
    const work = async (): Promise<void> => {
      for (let next = collection.next(); next !== undefined; next = collection.next()) {
        if (signal.aborted || failures.length > 0) return;
        await this.#collect(collection, next, signal).catch((error: unknown) => failures.push(error));
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, collection.waiting.length) }, work));
    if (failures.length > 0 && collection.records.size === 0) throw failures[0];
    return collection.records;
  }

  async #collect(collection: Collection, asked: Asked, signal: AbortSignal): Promise<void> {
    const { part, offset } = asked;
    if (await this.#collectMany(collection, asked, signal)) return;
    const isLate = this.#of.parts.isAnnounced(part, offset);
    const record = await this.#record(part, offset);
    collection.answered();
    if (record === undefined) return;
    // A cursor of the part has had the time to deliver what was announced.
    if (isLate) this.#cursors.close(part);
    if (!collection.takes(part, record)) {
      this.#spare.set(part, { from: offset, record });
      return;
    }
    if (!this.#of.parts.found(part, record.offset)) return;
    if (collection.isMany(part) && typeof part === "number") await this.#cursors.open(part, record.offset + 1);
    collection.again(part, record.offset + 1);
  }

  /** What the cursor of a part has; false when it has none, or nothing comes although there may be something. */
  async #collectMany(collection: Collection, { part, offset }: Asked, signal: AbortSignal): Promise<boolean> {
    const cursor = this.#cursors.find(part, offset);
    if (cursor === undefined || this.#spare.has(part)) return false;
    if (cursor.peek(offset) === undefined && (cursor.hasMore || this.#of.parts.isAnnounced(part, offset))) {
      cursor.ask(collection.share);
      // What is here does not wait for what comes.
      const isForLater = collection.records.size > 0 && !cursor.isLate(performance.now(), LATE_MILLIS);
      if (isForLater) {
        collection.answered();
        return true;
      }
      await cursor.arrival(LATE_MILLIS, signal);
    }
    if (cursor.peek(offset) === undefined) return false;
    this.#takeFrom(cursor, collection, { part, offset });
    return true;
  }

  #takeFrom(cursor: Cursor, collection: Collection, { part, offset }: Asked): void {
    const { parts, identity, saw } = this.#of;
    let last: number | undefined;
    for (let record = cursor.peek(offset); record !== undefined; record = cursor.peek(offset)) {
      if (!collection.takes(part, record)) break;
      cursor.shift();
      last = record.offset;
      identity.saw(last);
      saw(part, last);
    }
    collection.answered();
    if (last !== undefined && (cursor.peek(last + 1) !== undefined || parts.found(part, last)))
      collection.again(part, last + 1);
  }

  async #record(part: LogPart, from: number): Promise<LogRecord | undefined> {
    const spare = this.#spare.get(part);
    this.#spare.delete(part);
    if (spare !== undefined && spare.from <= from && from <= spare.record.offset) return spare.record;
    const record = await this.#next(part, from);
    if (record === undefined) {
      this.#of.parts.nothing(part, from);
      return undefined;
    }
    this.#of.identity.saw(record.offset);
    this.#of.saw(part, record.offset);
    return record;
  }

  async #next(part: LogPart, from: number): Promise<LogRecord | undefined> {
    const { subjects, identity, records } = this.#of;
    const subject = subjects.of(part);
    const doing = `reading a record of "${subject}"`;
    return await records.find({ subject, which: { from }, doing }).catch(async (error: unknown) => {
      if (error instanceof NobodyAnswers) await identity.check();
      throw error;
    });
  }
}
