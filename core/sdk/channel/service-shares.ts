import type { Putting, ServiceHolding } from "../channel.js";
import { counted } from "../counted.js";
import { AgentError } from "../errors.js";
import type { Event } from "../event.js";
import type { ConfigOf, Schema } from "../schema.js";
import type { Amount, ChannelLimits } from "./channel-errors.js";
import { serviceKey } from "./service-turns.js";

/** How much of a channel one service may hold. @beta */
export interface ShareLimits extends Pick<ChannelLimits, "channel" | "capacity" | "byteCapacity"> {
  /** Of the room that the others leave. 100 is no limit; everything is counted nevertheless. */
  readonly percentage: number;
}

/**
 * Counts what a channel holds of each service, and refuses puts of one that would hold more than its part of what the
 * others leave: alone `percentage` of the channel, less where several want much, so that there is room for one more. One event
 * of a service that holds nothing always passes. It waits for nothing, so that what is refused keeps nothing of others.
 * @beta
 */
export class ServiceShares {
  readonly #limits: ShareLimits;
  readonly #held = new Map<string, Held>();
  #events = 0;
  #bytes = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** What is counted of all services together. */
  get total(): Amount {
    return { events: this.#events, bytes: this.#bytes };
  }

  /** The services of which the channel holds most, those first. */
  largest(most: number): readonly ServiceHolding[] {
    const first: ServiceHolding[] = [];
    for (const [service, { events, bytes }] of this.#held) {
      const last = first.at(-1);
      if (first.length >= most && last !== undefined && last.events >= events) continue;
      first.push({ service, events, bytes });
      first.sort((one, other) => other.events - one.events);
      if (first.length > most) first.pop();
    }
    return first;
  }

  /**
   * Counts the events of a put from now on, those of all its services or none. `bytesOf` tells what the event at a place
   * counts for. Throws code `CHANNEL_SHARE_FULL` (retryable) when a service would hold too much now, and
   * `NOTIFICATION_TOO_LARGE` when it would in an empty channel.
   */
  claim(events: readonly Event[], bytesOf: (at: number) => number, putting: Putting = "new"): Claim {
    const claim = claimOf(events, bytesOf);
    if (putting === "new" && this.#limits.percentage < 100)
      for (const [service, amount] of claim) this.#check(service, amount);
    for (const [service, amount] of claim) this.add(service, amount);
    return claim;
  }

  /** What was claimed is not put. */
  giveBack(claim: Claim): void {
    for (const [service, amount] of claim) this.remove(service, amount);
  }

  /** Counts what is in the channel already. */
  add(service: string, { events, bytes }: Amount): void {
    const held = this.#held.get(service);
    if (held === undefined) this.#held.set(service, { events, bytes });
    else {
      held.events += events;
      held.bytes += bytes;
    }
    this.#events += events;
    this.#bytes += bytes;
  }

  /** What has left the channel. */
  remove(service: string, { events, bytes }: Amount): void {
    const held = this.#held.get(service);
    if (held === undefined) return;
    held.events -= events;
    held.bytes -= bytes;
    if (held.events <= 0) this.#held.delete(service);
    this.#events -= events;
    this.#bytes -= bytes;
  }

  #check(service: string, put: Amount): void {
    const { capacity, byteCapacity = Number.POSITIVE_INFINITY } = this.#limits;
    const held = this.#held.get(service) ?? none;
    if (!this.#fits(none, put, capacity, byteCapacity)) throw this.#tooLarge(put);
    const events = capacity - (this.#events - held.events);
    const bytes = byteCapacity - (this.#bytes - held.bytes);
    if (!this.#fits(held, put, events, bytes)) throw this.#full(service, held, events);
  }

  /** `events` and `bytes` are the room that others leave. */
  #fits(held: Amount, put: Amount, events: number, bytes: number): boolean {
    const isOne = held.events === 0 && put.events === 1;
    const fitsBytes = held.bytes + put.bytes <= (bytes * this.#limits.percentage) / 100;
    return held.events + put.events <= this.#most(events) && (isOne || fitsBytes);
  }

  #most(room: number): number {
    return Math.max(1, Math.floor((room * this.#limits.percentage) / 100));
  }

  #full(service: string, held: Amount, room: number): AgentError {
    const { channel, percentage } = this.#limits;
    const has = `${counted(held.events, "event")} (${held.bytes} bytes)`;
    const message =
      `channel "${channel}" holds ${has} of service ${JSON.stringify(service)}; with service_percentage ${percentage} ` +
      `one service may hold ${counted(this.#most(room), "event")} now`;
    return new AgentError("CHANNEL_SHARE_FULL", message, { retryable: true });
  }

  #tooLarge({ events, bytes }: Amount): AgentError {
    const { channel, capacity, percentage } = this.#limits;
    const message =
      `a notification of ${counted(events, "event")} and ${bytes} bytes is larger than what one service may hold of channel ` +
      `"${channel}" with its capacity ${capacity} and service_percentage ${percentage}; raise its property "capacity", ` +
      `"byteCapacity" or "service_percentage"`;
    return new AgentError("NOTIFICATION_TOO_LARGE", message, { retryable: false });
  }
}

/** What a put brings, by service. @beta */
export type Claim = ReadonlyMap<string, Amount>;

interface Held {
  events: number;
  bytes: number;
}

const none: Amount = { events: 0, bytes: 0 };

function claimOf(events: readonly Event[], bytesOf: (at: number) => number): Claim {
  const claim = new Map<string, Held>();
  let at = 0;
  for (const event of events) {
    const service = serviceKey(event);
    const held = claim.get(service);
    if (held === undefined) claim.set(service, { events: 1, bytes: bytesOf(at) });
    else {
      held.events += 1;
      held.bytes += bytesOf(at);
    }
    at += 1;
  }
  return claim;
}

/** The properties of a channel that services share, to be spread into its schema. @beta */
export const sharingProperties = {
  service_percentage: {
    doc:
      "The most that one service may hold, in events and bytes, as a percentage of the room that the others leave: alone that part " +
      "of the channel, less when several want much, so that room is left for one more. What is beyond it is answered 429. 100: no limit.",
    format: "count",
    default: 100,
    min: 1,
    max: 100,
  },
  fair_taking: {
    doc:
      "Whether sinks get the events of the services in turn, so that many events of one service do not delay those of another; " +
      "the events of one service stay in their order. false: all events in the order in which they were put.",
    format: "flag",
    default: false,
  },
} as const satisfies Schema;

/** The values of these properties. @beta */
export type SharingConfig = ConfigOf<typeof sharingProperties>;
