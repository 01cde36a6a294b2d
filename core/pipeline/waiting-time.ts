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
