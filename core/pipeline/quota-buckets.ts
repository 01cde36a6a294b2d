import type { Quota } from "../tokens.js";

/** Milliseconds between two looks for buckets that nobody needs. */
const SWEEP_INTERVAL = 1000;

/**
 * The buckets of the services of one source. They outlive the source: a reload changes quotas, not what was used of them.
 * Services are named by whoever sends, so the number of buckets is bounded, and all further services share one. A bucket is
 * forgotten only when it is full, as a new one is: no service gains by being forgotten, or by having many names.
 */
export class QuotaBuckets {
  /** Of services that the configuration names. */
  readonly #named = new Map<string, Bucket>();
  readonly #others = new Map<string, Bucket>();
  readonly #shared = new Bucket();
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** How many buckets are kept for services that the configuration does not name. */
  get others(): number {
    return this.#others.size;
  }

  named(service: string): Bucket {
    return this.#named.get(service) ?? moved(service, this.#others, this.#named);
  }

  /** The bucket of a service that the configuration does not name. */
  other(service: string, quota: Quota, most: number, now: number): Bucket {
    const known = this.#others.get(service);
    if (known !== undefined) return known;
    if (this.#others.size >= most) this.#sweep(quota, now);
    return this.#others.size >= most ? this.#shared : moved(service, this.#named, this.#others);
  }

  #sweep(quota: Quota, now: number): void {
    if (now - this.#sweptAt < SWEEP_INTERVAL) return;
    this.#sweptAt = now;
    for (const [service, bucket] of this.#others) if (bucket.isFull(quota, now)) this.#others.delete(service);
  }
}

/** A service may be named at one time and not at another; its bucket goes with it. */
function moved(service: string, from: Map<string, Bucket>, to: Map<string, Bucket>): Bucket {
  const bucket = from.get(service) ?? new Bucket();
  from.delete(service);
  to.set(service, bucket);
  return bucket;
}

/**
 * What is left of a quota. A notification of more events than the burst is accepted when the bucket is full, and the
 * service waits for what it took beyond that: so none is too large, and the mean is kept.
 */
export class Bucket {
  /** Undefined while it was never used: then it is full. */
  #left: number | undefined;
  #at = 0;

  isFull(quota: Quota, now: number): boolean {
    return this.#filled(quota, now) >= quota.burst;
  }

  /** Milliseconds until a notification of this number of events is accepted; 0 when it is accepted now. */
  wait(events: number, quota: Quota, now: number): number {
    if (quota.eventsPerSecond === 0) return Number.POSITIVE_INFINITY;
    const missing = Math.min(events, quota.burst) - this.#filled(quota, now);
    return missing <= 0 ? 0 : (missing / quota.eventsPerSecond) * 1000;
  }

  take(events: number, quota: Quota, now: number): void {
    this.#left = this.#filled(quota, now) - events;
  }

  /** What was taken was not accepted after all. */
  giveBack(events: number): void {
    if (this.#left !== undefined) this.#left += events;
  }

  #filled({ eventsPerSecond, burst }: Quota, now: number): number {
    const since = Math.max(0, now - this.#at) / 1000;
    this.#left = Math.min(burst, (this.#left ?? burst) + since * eventsPerSecond);
    this.#at = now;
    return this.#left;
  }
}
