import { eventHeaders } from "../ngsi/index.js";
import type { InboundRequest, Logger, Refused, Sender, SourceRefusal } from "../sdk/index.js";
import type { TransactionObserver } from "../tokens.js";
import type { CountedWarnings } from "./counted-warnings.js";

interface RefusalsParts {
  /** The name of the source. */
  readonly name: string;
  readonly observer: Pick<TransactionObserver, "refused">;
  readonly log: Logger;
  readonly warnings: CountedWarnings;
  now(): Date;
}

/** Why a request was refused, and whose it was. */
interface RefusedRequest {
  readonly reason: string;
  readonly addressee: Addressee;
  /** Undefined where nobody has read it. */
  readonly service?: string;
}

/** Counts the requests that one source refuses, and keeps a trace of each. */
export class Refusals {
  /** Refusals because of what the service sent or holds. */
  readonly overQuota = new RefusedServices();
  readonly #parts: RefusalsParts;
  #count = 0;
  /** When a request was last answered 503, and how many since the first. */
  #unavailable: { readonly at: number; readonly count: number } | undefined;

  constructor(parts: RefusalsParts) {
    this.#parts = parts;
  }

  get count(): number {
    return this.#count;
  }

  resetCounters(): void {
    this.#count = 0;
    this.overQuota.clear();
  }

  add({ status, cause }: Pick<Refused, "status" | "cause">, { reason, addressee, service }: RefusedRequest): void {
    const { name, observer, log, warnings, now } = this.#parts;
    const kind = KIND.test(cause) ? cause : "other";
    this.#count += 1;
    if (status === UNAVAILABLE) this.#unavailable = { at: now().getTime(), count: (this.#unavailable?.count ?? 0) + 1 };
    const limited = status === TOO_MANY && service !== undefined;
    if (limited) this.overQuota.add(service);
    observer.refused?.(name, { status, cause: kind, ...(limited ? { service } : {}) });
    log.debug({ status, cause: kind, reason, ...addressee }, "request refused");
    const fields = { status, cause: kind, ...addressee, reason: reason.slice(0, MOST_OF_A_REASON) };
    const level = status === 500 ? "error" : "warn";
    warnings.add(`${status} ${kind}`, { level, message: "requests refused", fields });
  }

  /** A full channel accepts and refuses in turn: the overload is over when nothing was refused for a while. */
  accepted(): void {
    if (this.#unavailable === undefined) return;
    const { at, count } = this.#unavailable;
    if (Math.abs(this.#parts.now().getTime() - at) < QUIET) return;
    this.#unavailable = undefined;
    this.#parts.log.info({ refused: count }, "requests are accepted again");
  }
}

/** Of what the agent cannot take now, whoever sends it. */
const UNAVAILABLE = 503;
/** Because of what one service sent or holds. */
const TOO_MANY = 429;
/** Milliseconds without a refusal. */
const QUIET = 10_000;
/** Kinds of refusals are labels of metrics. */
const KIND = /^[a-z][a-z0-9-]{0,39}$/;
/** Reasons may quote what was sent. */
const MOST_OF_A_REASON = 500;

/** Stands for all services beyond the maximum that are counted separately. */
const OTHER = "(other)";
const MOST_SERVICES = 1000;

/** Refusals by service. */
class RefusedServices {
  readonly #counts = new Map<string, number>();

  add(service: string): void {
    const key = this.#counts.has(service) || this.#counts.size < MOST_SERVICES ? service : OTHER;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** The services with most refusals, those first. */
  largest(most: number): readonly { readonly service: string; readonly refusals: number }[] {
    return [...this.#counts]
      .map(([service, refusals]) => ({ service, refusals }))
      .sort((one, other) => other.refusals - one.refusals)
      .slice(0, most);
  }

  clear(): void {
    this.#counts.clear();
  }
}

/** Where a refused request went, for log lines; a part that nobody named is absent. */
interface Addressee {
  readonly topic?: string;
  readonly [place: string]: string | number | undefined;
  readonly path?: string;
  readonly service?: string;
}

/** Of a topic the path is the same for all messages. The service is what the handler read, else what the headers say. */
export function addresseeOf({ topic, place, path, headers }: InboundRequest, { service }: Sender): Addressee {
  const named = service === "" ? (headers[eventHeaders.service] ?? headers[TENANT]) : service;
  return cleaned({ ...(topic === undefined ? { path } : { topic, place }), service: named });
}

/** The parts as log lines show them: short, in one line, and without the query of a path, which may hold a secret. */
export function cleaned({
  topic,
  place,
  path,
  service,
}: Pick<SourceRefusal, "topic" | "place" | "path" | "service">): Addressee {
  return {
    ...(topic ? { topic: shown(topic) } : {}),
    ...place,
    ...(path ? { path: shown(path.replace(/\?.*$/s, "")) } : {}),
    ...(service ? { service: shown(service) } : {}),
  };
}

const TENANT = "ngsild-tenant";
const MOST_CHARACTERS = 200;

function shown(text: string): string {
  return text.slice(0, MOST_CHARACTERS).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "\ufffd");
}
