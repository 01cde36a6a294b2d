import { createHash } from "node:crypto";
import { eventHeaders } from "../ngsi/index.js";
import { type Event, traceHeaders } from "../sdk/index.js";
import type { Left } from "./put-together.js";
import type { Route } from "./routes.js";

/** Milliseconds that a put is remembered, counted from the last time the notification was refused. */
const REMEMBERED = 600_000;
const MOST = 10_000;

/** Headers that are new whenever the same notification is received. */
const ownOfDelivery: ReadonlySet<string> = new Set([
  eventHeaders.transactionId,
  eventHeaders.timestamp,
  eventHeaders.correlator,
  eventHeaders.sequence,
  eventHeaders.notifiedAt,
  traceHeaders.parent,
  traceHeaders.state,
]);

/** An event in a channel, by what it holds. */
type Key = string;

interface Claim {
  /** What is left to put. */
  readonly routes: readonly Route[];
  /** What the channels have already. */
  readonly keys: readonly Key[];
}

/**
 * Events that stayed in a channel although their notification was refused, because another channel failed after this one
 * had committed. When the sender repeats the notification they are not put there again.
 */
export class RefusedPuts {
  readonly #now: () => number;
  /** The longest remembered first. */
  readonly #entries = new Map<Key, { readonly count: number; readonly until: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  get isEmpty(): boolean {
    return this.#entries.size === 0;
  }

  remember(left: readonly Left[]): void {
    this.#add(left.flatMap(({ route, events }) => route.origins.slice(0, events).flatMap((one) => keysOf(route, one))));
  }

  /** Takes out of the routes what their channels have. It is claimed: a second notification does not find it. */
  claim(routes: readonly Route[]): Claim {
    this.#forget();
    if (this.isEmpty) return { routes, keys: [] };
    const keys: Key[] = [];
    const left = routes.map((route) => {
      const missing = [...route.origins.keys()].filter((at) => {
        const found = route.origins
          .slice(at, at + 1)
          .flatMap((one) => keysOf(route, one))
          .filter((key) => this.#take(key));
        keys.push(...found);
        return found.length === 0;
      });
      return { ...route, events: pick(route.events, missing), origins: pick(route.origins, missing) };
    });
    return { routes: left.filter(({ events }) => events.length > 0), keys };
  }

  /** The notification was refused again. */
  giveBack({ keys }: Claim): void {
    this.#add(keys);
  }

  #add(keys: readonly Key[]): void {
    const until = this.#now() + REMEMBERED;
    for (const key of keys) {
      const count = (this.#entries.get(key)?.count ?? 0) + 1;
      this.#entries.delete(key);
      this.#entries.set(key, { count, until });
    }
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= MOST) return;
      this.#entries.delete(key);
    }
  }

  #take(key: Key): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    if (entry.count === 1) this.#entries.delete(key);
    else this.#entries.set(key, { ...entry, count: entry.count - 1 });
    return true;
  }

  #forget(): void {
    const now = this.#now();
    for (const [key, { until }] of this.#entries) {
      if (now < until) return;
      this.#entries.delete(key);
    }
  }
}

function pick(events: readonly Event[], places: readonly number[]): Event[] {
  return places.flatMap((at) => events.slice(at, at + 1));
}

/** None for an event that is not JSON: it is not recognized. */
function keysOf({ name }: Route, { headers, body }: Event): readonly Key[] {
  const lasting = Object.entries(headers).filter(([header]) => !ownOfDelivery.has(header));
  try {
    const text = JSON.stringify([name, lasting.sort(([one], [other]) => (one < other ? -1 : 1)), body]);
    return [createHash("sha256").update(text).digest("base64")];
  } catch {
    return [];
  }
}
