import { eventHeaders } from "../ngsi/index.js";
import type { Event } from "../sdk/index.js";

/** Stands for all services beyond the maximum that are counted separately; brokers do not allow this name. */
export const OTHER = "(other)";

/** A service, and the sub-service as its service path without the slash in front. */
export interface Scope {
  readonly service: string;
  readonly subService: string;
}

/** The events of one scope. */
interface ScopeEvents {
  readonly service: string;
  /** That of the first event. */
  readonly servicePath: string;
  readonly events: readonly Event[];
}

/** The events of each scope, in the order of their first event. */
export function byScope(events: readonly Event[]): readonly ScopeEvents[] {
  const [first] = events;
  if (first === undefined) return [];
  const service = first.headers[eventHeaders.service] ?? "";
  const servicePath = first.headers[eventHeaders.servicePath] ?? "/";
  // Most batches are of one scope: then nothing is collected.
  if (events.every((event) => isOf(event, service, servicePath))) return [{ service, servicePath, events }];
  return collected(events);
}

function isOf({ headers }: Event, service: string, servicePath: string): boolean {
  return (
    (headers[eventHeaders.service] ?? "") === service && (headers[eventHeaders.servicePath] ?? "/") === servicePath
  );
}

function collected(events: readonly Event[]): readonly ScopeEvents[] {
  const groups = new ByScope<ScopeEvents & { readonly events: Event[] }>((_, service, servicePath) => ({
    service,
    servicePath,
    events: [],
  }));
  for (const event of events) {
    const { headers } = event;
    groups.of(headers[eventHeaders.service] ?? "", headers[eventHeaders.servicePath] ?? "/").events.push(event);
  }
  return groups.all;
}

/** Takes the scope, and the first service and service path that belong to it. */
type Make<Value> = (scope: Scope, service: string, servicePath: string) => Value;

/** One value for each scope. Looks it up by service and service path without building a key, since it is asked for every event. */
export class ByScope<Value> {
  readonly #make: Make<Value>;
  readonly #most: number;
  readonly #values = new Map<string, Value>();
  readonly #known = new Map<string, Map<string, Value>>();

  /** `make` makes the value of a new scope; beyond `most` scopes, all others share the value of {@link OTHER}. */
  constructor(make: Make<Value>, most = Number.POSITIVE_INFINITY) {
    this.#make = make;
    this.#most = most;
  }

  /** In the order of their first lookup. */
  get all(): readonly Value[] {
    return [...this.#values.values()];
  }

  of(service: string, servicePath: string): Value {
    return this.#known.get(service)?.get(servicePath) ?? this.#learned(service, servicePath);
  }

  #learned(service: string, servicePath: string): Value {
    const scope = scopeOf(service, servicePath);
    const key = keyOf(scope);
    if (!this.#values.has(key) && this.#values.size >= this.#most) return this.#rest();
    const value = this.#values.get(key) ?? this.#make(scope, service, servicePath);
    this.#values.set(key, value);
    const paths = this.#known.get(service) ?? new Map<string, Value>();
    this.#known.set(service, paths.set(servicePath, value));
    return value;
  }

  #rest(): Value {
    const scope: Scope = { service: OTHER, subService: OTHER };
    const value = this.#values.get(keyOf(scope)) ?? this.#make(scope, OTHER, OTHER);
    this.#values.set(keyOf(scope), value);
    return value;
  }
}

function scopeOf(service: string, servicePath: string): Scope {
  return { service, subService: servicePath.startsWith("/") ? servicePath.slice(1) : servicePath };
}

function keyOf({ service, subService }: Scope): string {
  return `${service}\n${subService}`;
}

/** The labels for services: their names, or {@link OTHER} beyond a maximum number of services. */
export class ServiceLabels {
  readonly #most: number;
  readonly #services = new Set<string>();

  constructor(most: number) {
    this.#most = most;
  }

  of(service: string): string {
    if (this.#services.has(service)) return service;
    if (this.#services.size >= this.#most) return OTHER;
    this.#services.add(service);
    return service;
  }
}

/** Calls `each` with the milliseconds since the reception of each event; 0 for an event that has no time of reception. */
export function forAges(events: readonly Event[], now: Date, each: (age: number) => void): void {
  const time = now.getTime();
  // Events that follow each other were often received in the same millisecond.
  let text: string | undefined;
  let age = 0;
  for (const { headers } of events) {
    const own = headers[eventHeaders.timestamp];
    if (own !== text) {
      text = own;
      const received = Number(own);
      age = Number.isFinite(received) ? Math.max(0, time - received) : 0;
    }
    each(age);
  }
}

/** Splits a number of bytes among groups by their number of events; the parts add up to the whole. */
export function shares(bytes: number, sizes: readonly number[]): readonly number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let before = 0;
  return sizes.map((size) => {
    const from = Math.round((bytes * before) / total);
    before += size;
    return Math.round((bytes * before) / total) - from;
  });
}
