import { eventHeaders } from "../ngsi/index.js";
import type { Event } from "../sdk/index.js";

/** Stands for the services beyond the most that are counted by themselves; brokers do not allow this name. */
export const OTHER = "(other)";

/** A service, and the sub-service as its service path without the slash in front. */
export interface Scope {
  readonly service: string;
  readonly subService: string;
}

export function scopeOf(service: string, servicePath: string): Scope {
  return { service, subService: servicePath.replace(/^\//, "") };
}

/** The events of each scope, in the order of their first event. */
export function byScope(events: readonly Event[]): ReadonlyMap<string, { scope: Scope; events: readonly Event[] }> {
  const groups = new Map<string, { scope: Scope; events: Event[] }>();
  for (const event of events) {
    const scope = scopeOf(event.headers[eventHeaders.service] ?? "", event.headers[eventHeaders.servicePath] ?? "/");
    const key = keyOf(scope);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { scope, events: [event] });
    else group.events.push(event);
  }
  return groups;
}

export function keyOf({ service, subService }: Scope): string {
  return `${service}\n${subService}`;
}

/** Milliseconds from the reception of an event; 0 when it does not say when it was received. */
export function ageOf({ headers }: Event, now: Date): number {
  const received = Number(headers[eventHeaders.timestamp]);
  return Number.isFinite(received) ? Math.max(0, now.getTime() - received) : 0;
}

/** The share of each group in bytes that were counted for all, by number of events; the shares add up. */
export function shares(bytes: number, sizes: readonly number[]): readonly number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let before = 0;
  return sizes.map((size) => {
    const from = Math.round((bytes * before) / total);
    before += size;
    return Math.round((bytes * before) / total) - from;
  });
}
