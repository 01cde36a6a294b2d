import type { Event } from "../event.js";
import { type QueuedEvent, SequenceRing } from "./event-queue.js";

/** The header of an event that names its service. */
const SERVICE = "fiware-service";

/** The name of the service of an event, for counting: spellings that differ only in case are one service, as they are in a store. @beta */
export function serviceKey({ headers }: Event): string {
  return (headers[SERVICE] ?? "").toLowerCase();
}

/** Most services come and go with a few events. */
const SLOTS = 4;

/**
 * A queue that hands out the events of the services in turn, one of each, those of one service in the order of their
 * sequence numbers: an event waits for as many others as there are services, however many events another one has.
 * @beta
 */
export class ServiceTurns {
  readonly #rings = new Map<string, SequenceRing>();
  readonly #order = new Turns<string>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Adds events that are later than all others of their service. */
  push(events: readonly QueuedEvent[]): void {
    for (const [service, own] of byService(events)) this.#ringOf(service).push(own);
    this.#length += events.length;
  }

  /** Removes up to `max` events; after `mostBytes` bytes of events no more. */
  shift(max: number, mostBytes = Number.POSITIVE_INFINITY): QueuedEvent[] {
    const taken: QueuedEvent[] = [];
    let bytes = 0;
    while (taken.length < max && bytes < mostBytes) {
      const service = this.#order.next();
      const ring = service === undefined ? undefined : this.#rings.get(service);
      if (service === undefined || ring === undefined) break;
      const count = this.#order.size === 1 ? max - taken.length : 1;
      for (const event of ring.shift(count, mostBytes - bytes)) {
        taken.push(event);
        bytes += event.bytes ?? 0;
      }
      if (ring.length > 0) continue;
      this.#rings.delete(service);
      this.#order.leave();
    }
    this.#length -= taken.length;
    return taken;
  }

  /** Puts events that were removed back in their places among those of their service. */
  restore(events: readonly QueuedEvent[]): void {
    for (const [service, own] of byService(events)) this.#ringOf(service).restore(own);
    this.#length += events.length;
  }

  #ringOf(service: string): SequenceRing {
    const known = this.#rings.get(service);
    if (known !== undefined) return known;
    const ring = new SequenceRing(SLOTS);
    this.#rings.set(service, ring);
    this.#order.join(service);
    return ring;
  }
}

/** Whose turn it is among those that wait, without a search when one joins or leaves. @beta */
export class Turns<One> {
  readonly #waiting: One[] = [];
  /** Where the one stands whose turn it was. */
  #at = -1;

  get size(): number {
    return this.#waiting.length;
  }

  join(one: One): void {
    this.#waiting.push(one);
  }

  /** The one after that of the last call; undefined when none waits. */
  next(): One | undefined {
    this.#at = this.#at + 1 >= this.#waiting.length ? 0 : this.#at + 1;
    return this.#waiting[this.#at];
  }

  /** The one that `next` returned last does not wait any more: the last one takes its place. */
  leave(): void {
    const last = this.#waiting.pop();
    if (last === undefined || this.#at >= this.#waiting.length) return;
    this.#waiting[this.#at] = last;
    this.#at -= 1;
  }
}

/** The events of each service, in their order. Most lists are of one notification, and so of one service. */
function byService(events: readonly QueuedEvent[]): Iterable<readonly [string, readonly QueuedEvent[]]> {
  const [first] = events;
  if (first === undefined) return [];
  const service = serviceKey(first.event);
  if (events.every(({ event }) => serviceKey(event) === service)) return [[service, events]];
  const groups = new Map<string, QueuedEvent[]>();
  for (const queued of events) {
    const key = serviceKey(queued.event);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [queued]);
    else group.push(queued);
  }
  return groups;
}
