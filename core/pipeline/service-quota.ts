import { counted } from "../sdk/counted.js";
import { isEvent } from "../sdk/event-fault.js";
import { AgentError, type Emit, type Event } from "../sdk/index.js";
import type { Quota, SourceQuota } from "../tokens.js";
import { type Bucket, QuotaBuckets } from "./quota-buckets.js";

/** Longest time that a sender is asked to wait. */
const LONGEST_WAIT = 3_600_000;

const SERVICE = "fiware-service";

interface ServiceQuotaParts {
  /** The name of the source, for messages. */
  readonly source: string;
  readonly quota: SourceQuota;
  readonly buckets: QuotaBuckets;
  /** Milliseconds of a clock that nobody sets. */
  readonly now?: () => number;
}

/** Refuses notifications of services that send more events than their quota. */
export class ServiceQuota {
  readonly #source: string;
  readonly #services: ReadonlyMap<string, Quota | undefined>;
  readonly #usual: Quota | undefined;
  readonly #most: number;
  readonly #buckets: QuotaBuckets;
  readonly #now: () => number;

  constructor({ source, quota, buckets, now = () => performance.now() }: ServiceQuotaParts) {
    this.#source = source;
    this.#services = new Map(Object.entries(quota.services));
    this.#usual = quota.usual;
    this.#most = quota.mostServices;
    this.#buckets = buckets;
    this.#now = now;
  }

  /** The error of a service of which not one event would be accepted now. */
  usedUp(service: string): AgentError | undefined {
    const limited = this.#limitedOf(service);
    if (limited === undefined) return undefined;
    const wait = limited.bucket.wait(1, limited.quota, this.#now());
    return wait === 0 ? undefined : this.#exceeded(service, limited.quota, wait);
  }

  /** Counts a notification that `accept` accepts; one without events counts as one. Rejects with code `QUOTA_EXCEEDED` (retryable). */
  async counted(service: string, events: number, accept: () => Promise<void>): Promise<void> {
    this.#take(service, events);
    try {
      await accept();
    } catch (error) {
      this.#giveBack(service, events);
      throw error;
    }
  }

  #take(service: string, events: number): void {
    const limited = this.#limitedOf(service);
    if (limited === undefined) return;
    const { bucket, quota } = limited;
    const now = this.#now();
    const count = Math.max(1, events);
    const wait = bucket.wait(count, quota, now);
    if (wait > 0) throw this.#exceeded(service, quota, wait);
    bucket.take(count, quota, now);
  }

  #giveBack(service: string, events: number): void {
    this.#limitedOf(service)?.bucket.giveBack(Math.max(1, events));
  }

  /** The `emit` of a source without a handler: what it emits at once is accepted as a whole or not at all. */
  limited(emit: Emit): Emit {
    return async (events) => {
      const taken: (readonly [string, number])[] = [];
      try {
        for (const [service, count] of countsOf(events)) {
          this.#take(service, count);
          taken.push([service, count]);
        }
        await emit(events);
      } catch (error) {
        for (const [service, count] of taken) this.#giveBack(service, count);
        throw error;
      }
    };
  }

  #limitedOf(service: string): { readonly bucket: Bucket; readonly quota: Quota } | undefined {
    const key = service.toLowerCase();
    if (this.#services.has(key)) {
      const own = this.#services.get(key);
      return own === undefined ? undefined : { bucket: this.#buckets.named(key), quota: own };
    }
    const quota = this.#usual;
    return quota && { bucket: this.#buckets.other(key, quota, this.#most, this.#now()), quota };
  }

  #exceeded(service: string, { eventsPerSecond, burst }: Quota, wait: number): AgentError {
    const limit =
      eventsPerSecond === 0 ? "0 events" : `${counted(eventsPerSecond, "event")} per second, ${burst} at once`;
    const message = `source "${this.#source}" accepts ${limit} of service ${JSON.stringify(service)}, and these are used up`;
    return new AgentError("QUOTA_EXCEEDED", message, { retryable: true, retryAfter: Math.min(wait, LONGEST_WAIT) });
  }
}

/** Events by service; none for what is no list of events, which is refused elsewhere. */
function countsOf(events: readonly Event[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (!Array.isArray(events) || !events.every(isEvent)) return counts;
  for (const { headers } of events) {
    const service = (headers[SERVICE] ?? "").toLowerCase();
    counts.set(service, (counts.get(service) ?? 0) + 1);
  }
  return counts;
}

/** The buckets of all sources of an agent, by the name of the source. */
export class QuotaBooks {
  readonly #buckets = new Map<string, QuotaBuckets>();

  of(source: string): QuotaBuckets {
    const known = this.#buckets.get(source);
    if (known !== undefined) return known;
    const added = new QuotaBuckets();
    this.#buckets.set(source, added);
    return added;
  }
}
