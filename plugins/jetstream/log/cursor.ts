import { setMaxListeners } from "node:events";
import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import type { LogRecord } from "deneb/log";
import { onAbort } from "deneb/sdk";
import { asksFor, deliveredOf } from "./consumers.js";

const EXPIRES_MILLIS = 5000;
/** A question whose end does not come is over after so long beyond its time. */
const GRACE_MILLIS = 1000;

interface CursorParts {
  readonly connection: NatsConnection;
  /** Where the server sends what is asked for. */
  readonly inbox: string;
  readonly stream: string;
  readonly subject: string;
  /** The consumer. */
  readonly name: string;
  /** The sequence with which it begins. */
  readonly from: number;
  /** Records that are asked for at once. */
  readonly batch: number;
  /** Called when a record arrived while no read waited for one. */
  readonly arrived: () => void;
  /** Called with the most records that a question may be for, when the server says so. */
  readonly limited: (batch: number) => void;
}

/**
 * Reads one part on and on: a consumer, of which many records are asked for at once. It never tells that there are no more;
 * and after anything that it does not expect it is broken and delivers what came before.
 */
export class Cursor {
  readonly name: string;
  readonly #of: CursorParts;
  readonly #subscription: Subscription;
  #ready: LogRecord[] = [];
  #next: number;
  /** Records that the consumer has delivered, and the sequence of the last of them. */
  #delivered = 0;
  #last: number;
  /** How many of those that were asked for are still to come. */
  #left = 0;
  #over = 0;
  /** False when there was nothing behind the last record as it was delivered. */
  #hasMore = true;
  #questions = 0;
  #isBroken = false;
  #usedAt = performance.now();
  /** Since when something is asked for and nothing came. */
  #wantedAt: number | undefined;
  #wake: (() => void) | undefined;

  constructor(of: CursorParts) {
    this.#of = of;
    this.name = of.name;
    this.#next = of.from;
    this.#last = of.from - 1;
    const callback = (error: Error | null, message: Msg) => this.#came(error, message);
    this.#subscription = of.connection.subscribe(`${of.inbox}.*`, { callback });
  }

  /** False when nothing was behind what it has delivered: something may have come since. */
  get hasMore(): boolean {
    return this.#hasMore;
  }

  /** Whether it was last used at least that many milliseconds ago. */
  isUnused(now: number, millis: number): boolean {
    return now - this.#usedAt >= millis;
  }

  /** True when it delivers what is from this sequence on without much that is before. */
  suits(from: number, now: number, unusedMillis: number): boolean {
    if (this.#ready.length === 0 && (this.#isBroken || this.#of.connection.isClosed())) return false;
    return from === this.#next || (from > this.#next && !this.isUnused(now, unusedMillis));
  }

  /** The next record from this sequence on, if it came already. */
  peek(from: number): LogRecord | undefined {
    while ((this.#ready[0]?.offset ?? from) < from) this.#shift();
    return this.#ready[0];
  }

  /** Takes away what `peek` returns. */
  shift(): void {
    this.#shift();
    this.#usedAt = performance.now();
  }

  /** Whether more was asked for at least that many milliseconds ago, and nothing arrived since. */
  isLate(now: number, millis: number): boolean {
    return this.#wantedAt !== undefined && now - this.#wantedAt >= millis;
  }

  /** Asks for more unless that is under way, or something is here. */
  ask(bytes: number): void {
    if (this.#ready.length === 0) this.#wantedAt ??= performance.now();
    const isUnderWay = this.#left > 0 && performance.now() < this.#over;
    if (isUnderWay || this.#ready.length > 0 || this.#isBroken) return;
    const { connection, inbox, stream, name, batch } = this.#of;
    this.#questions += 1;
    this.#left = batch;
    this.#over = performance.now() + EXPIRES_MILLIS + GRACE_MILLIS;
    const { subject, payload } = asksFor(stream, name, { batch, bytes, expires: EXPIRES_MILLIS });
    connection.publish(subject, payload, { reply: `${inbox}.${this.#questions}` });
  }

  /** Waits until a record is here, at most `within` milliseconds. */
  async arrival(within: number, signal: AbortSignal): Promise<void> {
    if (this.#ready.length > 0 || this.#isBroken || signal.aborted) return;
    // Other cursors wait for the same read.
    setMaxListeners(0, signal);
    await new Promise<void>((resolve) => {
      const go = () => {
        clearTimeout(timer);
        stopListening();
        this.#wake = undefined;
        resolve();
      };
      const timer = setTimeout(go, within);
      const stopListening = onAbort(signal, go);
      this.#wake = go;
    });
  }

  /** False when its connection is lost: then nobody can be asked to remove the consumer. */
  close(): boolean {
    const isConnected = !this.#of.connection.isClosed();
    this.#isBroken = true;
    this.#ready = [];
    if (isConnected) this.#subscription.unsubscribe();
    this.#wake?.();
    return isConnected;
  }

  #shift(): void {
    const record = this.#ready.shift();
    if (record !== undefined) this.#next = record.offset + 1;
  }

  #came(error: Error | null, message: Msg): void {
    if (error !== null) this.#isBroken = true;
    else if (message.subject === this.#of.subject) this.#take(message);
    else this.#end(message);
    if (this.#wake !== undefined) this.#wake();
    else if (this.#ready.length > 0) this.#of.arrived();
  }

  #take(message: Msg): void {
    const place = deliveredOf(message.reply ?? "", this.name);
    // A record that is missing between two of them would be passed over.
    this.#isBroken ||= place?.count !== this.#delivered + 1 || place.sequence <= this.#last;
    if (this.#isBroken || place === undefined) return;
    this.#delivered = place.count;
    this.#hasMore = place.pending > 0;
    this.#last = place.sequence;
    this.#left -= 1;
    this.#wantedAt = undefined;
    this.#ready.push({ offset: place.sequence, value: message.data });
  }

  /** A question is over: its time is, or its bytes are. Anything else, such as a consumer that is gone, breaks the cursor. */
  #end({ subject, headers }: Msg): void {
    const isRunning = subject.endsWith(`.${this.#questions}`);
    const code = headers?.code ?? 0;
    const description = headers?.description ?? "";
    const [, most] = MOST_RECORDS.exec(description) ?? [];
    if (code === REFUSED && most !== undefined) this.#of.limited(Number(most));
    const isUsual = code === NOTHING || code === TIME_OVER || (code === REFUSED && isFull(description));
    // Not even one record fits: it is read in another way.
    const isStuck = code === REFUSED && isRunning && this.#left === this.#of.batch;
    if (!isUsual || isStuck) this.#isBroken = true;
    if (isRunning) this.#left = 0;
  }
}

const NOTHING = 404;
const TIME_OVER = 408;
const REFUSED = 409;

/** What a server says that has `max_request_batch`, or a consumer. */
const MOST_RECORDS = /^exceeded maxrequestbatch of (\d{1,9})/i;

/** The bytes are used up, or, as servers of 2.10 and later say, the records. */
function isFull(description: string): boolean {
  return /max_?bytes|batch completed/i.test(description);
}
