import type { LogPart } from "deneb/log";
import { loadClient } from "../client.js";
import { makeConsumer, removeConsumer } from "./consumers.js";
import { Cursor } from "./cursor.js";
import type { Link } from "./link.js";
import type { Subjects } from "./subjects.js";

/** After this time without questions a server removes a consumer. */
const IDLE_MILLIS = 30_000;
/** What this agent read in another way is delivered, too: not for longer than this. */
const UNUSED_MILLIS = 1000;
/** Records that a cursor asks for at once; the bytes are the limit that counts. */
const BATCH = 1000;
/** Further parts are read record by record: what cursors have brought is in memory, and a server keeps each consumer. */
const MOST_CURSORS = 64;
/** The pause after a failure, in which no cursor is opened. */
const RETRY_MILLIS = 5000;

interface CursorsParts {
  readonly link: Link;
  readonly stream: string;
  readonly subjects: Subjects;
  /** Called when a record arrived while no read waited for one. */
  readonly arrived: () => void;
}

/** The cursors of the parts that have much to read. */
export class Cursors {
  readonly #of: CursorsParts;
  readonly #cursors = new Map<LogPart, Cursor>();
  #opening = 0;
  #batch = BATCH;
  /** No cursor is opened before this time. */
  #notBefore = 0;

  constructor(of: CursorsParts) {
    this.#of = of;
  }

  /** The cursor that can go on from this sequence; one that cannot is closed. */
  find(part: LogPart, from: number): Cursor | undefined {
    const cursor = this.#cursors.get(part);
    if (cursor?.suits(from, performance.now(), UNUSED_MILLIS) === true) return cursor;
    this.close(part);
    return undefined;
  }

  /** Begins one unless there is one; when that cannot be done, nothing but time is lost. */
  async open(part: LogPart, from: number): Promise<void> {
    if (performance.now() < this.#notBefore || this.find(part, from) !== undefined) return;
    if (this.#cursors.size + this.#opening >= MOST_CURSORS) return;
    this.#opening += 1;
    const { link, stream, subjects, arrived } = this.#of;
    const subject = subjects.of(part);
    const doing = `reading records of "${subject}"`;
    try {
      const connection = await link.connection(doing);
      const name = await makeConsumer({ link, stream, subject, doing }, { begins: { from }, idleMillis: IDLE_MILLIS });
      const inbox = (await loadClient()).createInbox();
      const limited = (most: number) => {
        this.#batch = Math.max(1, most);
      };
      const batch = this.#batch;
      const of = { connection, inbox, stream, subject, name, from, batch, arrived, limited };
      this.#cursors.set(part, new Cursor(of));
    } catch {
      this.#notBefore = performance.now() + RETRY_MILLIS;
    } finally {
      this.#opening -= 1;
    }
  }

  close(part: LogPart): void {
    const cursor = this.#cursors.get(part);
    if (cursor === undefined) return;
    this.#cursors.delete(part);
    if (!cursor.close()) return;
    const { link, stream, subjects } = this.#of;
    void removeConsumer({ link, stream, doing: `reading records of "${subjects.of(part)}"` }, cursor.name);
  }

  /** Closes those of other parts, unless they were used just now: a part that has no room is read again soon. */
  keep(parts: ReadonlyMap<LogPart, unknown>): void {
    const now = performance.now();
    for (const [part, cursor] of this.#cursors)
      if (!parts.has(part) && cursor.isUnused(now, UNUSED_MILLIS)) this.close(part);
  }
}
