import type { Response } from "express";

/** Bytes that may wait for a listener; more than that, and it is left out until it has read them. */
const MOST_WAITING = 262_144;
/** Milliseconds after which a listener that does not read is disconnected. */
const LONGEST_WAIT = 30_000;

/** Texts of a document for listeners, each made once and only when somebody needs it. */
interface Messages {
  /** The whole document. */
  readonly snapshot: () => Buffer;
  /** What differs from the document before. */
  readonly change: () => Buffer;
}

/** One client of the stream. What it does not read is not kept for it: when it reads again it gets the document as it is then. */
export class Listener {
  readonly #response: Response;
  /** When it was first found not to have read; undefined while it follows. */
  #behindSince: number | undefined;
  #isFresh = true;

  constructor(response: Response) {
    this.#response = response;
    response.status(200).set({
      "Content-Type": "text/event-stream; charset=utf-8",
      // For proxies that would collect the messages.
      "X-Accel-Buffering": "no",
    });
    response.socket?.setNoDelay(true);
    response.flushHeaders();
  }

  /** Undefined for one that follows. */
  get behindSince(): number | undefined {
    return this.#behindSince;
  }

  /** Brings the listener to the document; false when it has been waited for too long. */
  tell({ snapshot, change }: Messages, now: number): boolean {
    const { writableLength } = this.#response;
    const isBehind = this.#behindSince !== undefined;
    if (isBehind ? writableLength > 0 : writableLength > MOST_WAITING) {
      this.#behindSince ??= now;
      return now - this.#behindSince < LONGEST_WAIT;
    }
    this.#response.write(isBehind || this.#isFresh ? snapshot() : change());
    this.#isFresh = false;
    this.#behindSince = undefined;
    return true;
  }

  /** A message beside the document; one that is behind learns it from its next document. */
  note(message: Buffer): void {
    if (this.#behindSince === undefined && this.#response.writableLength <= MOST_WAITING) this.#response.write(message);
    this.#isFresh = true;
  }

  end(message: Buffer): void {
    this.#response.end(message);
  }

  drop(): void {
    this.#response.destroy();
  }
}

/** One message of server-sent events. */
export function eventText(name: string, data: object): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}
