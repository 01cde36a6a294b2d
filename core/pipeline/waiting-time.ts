import { millisOf } from "../tokens.js";

/** Since when the oldest event of a channel waits. */
export interface WaitingSince {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** False for events of a process before this one: they have waited longer. */
  readonly exact: boolean;
}

/** Milliseconds that one sample covers at least. */
const FINEST = 250;
const MOST_SAMPLES = 512;

/** Up to which event of a channel, counted from its start, something was put from a time on. */
interface Sample {
  upTo: number;
  readonly from: number;
}

/**
 * Tells how long the oldest event of a channel waits, from a bounded number of samples: a few each second, and fewer the
 * longer the oldest one is there. What it tells is at most one sample too early.
 */
export class WaitingTime {
  #samples: Sample[] = [];
  #width = FINEST;
  #put = 0;
  #before = 0;
  #startedAt = 0;

  /** The channel has started with events of an earlier process. */
  started(size: number, now: number): void {
    this.#put += size;
    this.#before = this.#put;
    this.#startedAt = now;
  }

  noted(events: number, now: number): void {
    if (events === 0) return;
    this.#put += events;
    const last = this.#samples.at(-1);
    if (last !== undefined && Math.abs(now - last.from) < this.#width) {
      last.upTo = this.#put;
      return;
    }
    this.#samples.push({ upTo: this.#put, from: now });
    if (this.#samples.length > MOST_SAMPLES) this.#thinOut();
  }

  /** Undefined while the channel, which holds `size` events, is empty. */
  oldest(size: number): WaitingSince | undefined {
    if (size === 0) return this.#empty();
    // A put that is about to resolve is in the channel and not yet noted.
    const done = Math.max(0, this.#put - size);
    if (done < this.#before) return { since: this.#startedAt, exact: false };
    const at = this.#samples.findIndex(({ upTo }) => upTo > done);
    if (at > 0) this.#samples.splice(0, at);
    const [first] = this.#samples;
    return first === undefined ? undefined : { since: first.from, exact: true };
  }

  #empty(): undefined {
    this.#samples = [];
    this.#width = FINEST;
    return undefined;
  }

  #thinOut(): void {
    const kept: Sample[] = [];
    for (let at = 0; at < this.#samples.length; at += 2) {
      const [first, second] = this.#samples.slice(at, at + 2);
      if (first !== undefined) kept.push({ from: first.from, upTo: (second ?? first).upTo });
    }
    this.#samples = kept;
    this.#width *= 2;
  }
}

/** Milliseconds that a clock may gain or lose on the uptime without having been set. */
const DRIFT = 60_000;

/**
 * Times of a clock that is not set back: where that of the machine was, the time goes on from the last look at it, so that what
 * waits does not become younger. Where that only undoes that it was set forward, the time is the right one again.
 */
export class UnsetClock {
  readonly #now: () => number;
  readonly #uptime: () => number;
  #latest: number;
  /** What the uptime was when the clock was right, and what the clock showed. */
  #right: { readonly shown: number; readonly uptime: number };
  #behind = 0;

  /** `uptime` is in milliseconds, and nobody sets it. */
  constructor(now: () => Date, uptime: () => number = () => performance.now()) {
    this.#now = millisOf(now);
    this.#uptime = uptime;
    this.#latest = this.#now();
    this.#right = { shown: this.#latest, uptime: uptime() };
  }

  /** Milliseconds. */
  now(): number {
    const now = this.#now();
    if (now < this.#latest) this.#setBack(now);
    this.#latest = now;
    return now + this.#behind;
  }

  #setBack(now: number): void {
    const uptime = this.#uptime();
    const gained = this.#latest - this.#right.shown - (uptime - this.#right.uptime);
    const undone = gained > DRIFT ? gained : 0;
    this.#behind += Math.max(0, this.#latest - now - undone);
    this.#right = { shown: now, uptime };
  }

  /** A time that the clock of the machine has shown; one that it has not reached again is of before it was set back. */
  of(shown: number): number {
    const now = this.now();
    return shown > now - this.#behind ? Math.min(shown, now) : shown + this.#behind;
  }

  /** What the clock of the machine would have shown then, if it had always been set like now. */
  shown(time: number): number {
    return time - this.#behind;
  }
}
