import type { Feed } from "./feed.js";

/** The feed of several sinks: it begins when the last one of them has started, and ends when the first one asks. */
export class SharedFeed implements Feed {
  readonly #feed: Feed;
  #missing: number;

  constructor(feed: Feed, sinks: number) {
    this.#feed = feed;
    this.#missing = sinks;
  }

  join(): void {
    this.#feed.join();
  }

  /** Called once for each sink. */
  start(): void {
    this.#missing -= 1;
    if (this.#missing === 0) this.#feed.start();
  }

  async drain(signal: AbortSignal): Promise<void> {
    await this.#feed.drain(signal);
  }

  async idle(signal: AbortSignal): Promise<boolean> {
    return await this.#feed.idle(signal);
  }

  async halt(signal: AbortSignal): Promise<void> {
    await this.#feed.halt(signal);
  }
}
