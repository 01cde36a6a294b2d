import type { Response } from "express";
import { type JsonObject, mergePatch } from "../../agent/live/merge-patch.js";
import { type Logger, reasonOf } from "../../sdk/index.js";
import { isStillKnown } from "../security/access.js";
import { eventText, Listener } from "./listener.js";

/** Most clients at the same time. */
export const MOST_LISTENERS = 50;

const INTERVAL = 1000;
/** Milliseconds to the second look when a first client comes: rates need two. */
const FIRST_RATES = 250;

/** What the stream shows. */
export interface LiveSource {
  /** Differs after each change of the components. */
  readonly revision: number;
  /** Makes the document at each call. */
  watch(): () => JsonObject;
}

interface LiveStreamParts {
  readonly source: LiveSource;
  readonly log: Logger;
  /** Milliseconds of a clock that nobody sets. */
  readonly uptime?: () => number;
}

/**
 * Tells its listeners each second what has changed in a document. The document and the difference are made once for all;
 * without listeners nothing is.
 */
export class LiveStream {
  readonly #source: LiveSource;
  readonly #log: Logger;
  readonly #uptime: () => number;
  readonly #listeners = new Map<Response, Listener>();
  #look: () => JsonObject;
  #document: JsonObject = {};
  #revision = 0;
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor({ source, log, uptime = () => performance.now() }: LiveStreamParts) {
    this.#source = source;
    this.#log = log;
    this.#look = source.watch();
    this.#uptime = uptime;
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Whether it looks from time to time. */
  get isLooking(): boolean {
    return this.#timer !== undefined;
  }

  /** False when there are too many, or the stream has ended. */
  add(response: Response): boolean {
    if (this.#hasEnded || !this.#hasRoom()) return false;
    const isFirst = this.#listeners.size === 0;
    if (isFirst) {
      this.#look = this.#source.watch();
      this.#renew();
    }
    const listener = new Listener(response);
    this.#listeners.set(response, listener);
    response.once("close", () => this.#remove(response));
    // The document of the last look, so that the next difference fits.
    const document = this.#document;
    listener.tell({ snapshot: () => snapshotText(document), change: () => snapshotText(document) }, this.#uptime());
    if (isFirst) this.#wait(FIRST_RATES);
    return true;
  }

  /** Looks, and tells the listeners. */
  tick(): void {
    const before = this.#document;
    const revision = this.#revision;
    this.#renew();
    const document = this.#document;
    const snapshot = once(() => snapshotText(document));
    const change = once(() => eventText("change", { time: document["time"], ...mergePatch(before, document) }));
    const now = this.#uptime();
    const replaced = revision === this.#revision ? undefined : eventText("topology", { revision: this.#revision });
    for (const [response, listener] of this.#listeners) {
      const isKnown = isStillKnown(response);
      if (isKnown && replaced !== undefined) listener.note(replaced);
      if (isKnown && listener.tell({ snapshot, change }, now)) continue;
      listener.drop();
      this.#remove(response);
    }
  }

  /** Ends the answers to all listeners, and takes no more. */
  end(): void {
    this.#hasEnded = true;
    const last = eventText("end", { reason: "the agent stops" });
    for (const listener of this.#listeners.values()) listener.end(last);
    this.#listeners.clear();
    this.#rest();
  }

  /** A channel of others may throw when it is asked for its size: that ends the streams, and not the agent. */
  #fail(error: unknown): void {
    this.#log.error({ reason: reasonOf(error), listeners: this.#listeners.size }, "live streams ended");
    for (const listener of this.#listeners.values()) listener.drop();
    this.#listeners.clear();
    this.#rest();
  }

  /** One that does not read gives way to one that comes. */
  #hasRoom(): boolean {
    if (this.#listeners.size < MOST_LISTENERS) return true;
    const behind = [...this.#listeners].find(([, { behindSince }]) => behindSince !== undefined);
    if (behind === undefined) return false;
    const [response, listener] = behind;
    listener.drop();
    this.#listeners.delete(response);
    return true;
  }

  #renew(): void {
    this.#revision = this.#source.revision;
    this.#document = { interval_seconds: INTERVAL / 1000, ...this.#look() };
  }

  #wait(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#wait(INTERVAL);
      try {
        this.tick();
      } catch (error) {
        this.#fail(error);
      }
    }, milliseconds).unref();
  }

  #remove(response: Response): void {
    this.#listeners.delete(response);
    if (this.#listeners.size === 0) this.#rest();
  }

  #rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#document = {};
  }
}

function snapshotText(document: JsonObject): Buffer {
  return eventText("snapshot", document);
}

function once(make: () => Buffer): () => Buffer {
  let made: Buffer | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
