import { Counter, type Registry } from "prom-client";
import type { IncomingTransaction } from "../sdk/index.js";
import type { TransactionObserver } from "../tokens.js";
import { Histogram, type Series } from "./histogram.js";
import type { Readings } from "./readings.js";
import type { ServiceLabels } from "./scopes.js";

/** Maximum number of pairs of status and cause of one source that have a label of their own. */
const MOST_CAUSES = 100;

/** What a source refuses, as the counters name it. */
export interface RefusalCause {
  readonly status: number;
  readonly cause: string;
}

/** Refusals that any source can make; they are shown, with 0, before the first of them. */
const usual: readonly RefusalCause[] = [
  { status: 413, cause: "notification-too-large" },
  { status: 429, cause: "channel-share-full" },
  { status: 429, cause: "quota" },
  { status: 500, cause: "internal-error" },
  { status: 500, cause: "handler-failed" },
  { status: 503, cause: "channel-full" },
];

/** The service of requests that name none; its series are shown before the first request. */
const NO_SERVICE = "";

/**
 * Metrics about requests and refusals of sources. They only grow, also when a source is replaced or the metrics by
 * service are reset. They are counted in plain numbers, which the counters take over at each scrape.
 */
export class SourceInstruments implements Pick<TransactionObserver, "received" | "refused"> {
  readonly histograms = [
    new Histogram({
      name: "deneb_source_request_seconds",
      help: "Time from the reception of a request to its answer.",
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    }),
  ] as const;
  readonly #labels: ServiceLabels;
  readonly #received = new Map<string, Received>();
  readonly #refused = new Map<string, Map<string, Refused>>();

  constructor(readings: Readings, labels: ServiceLabels) {
    this.#labels = labels;
    addCounters(readings, {
      received: () => listed(this.#received),
      refused: () => this.#allRefused(),
    });
  }

  received(source: string, { service, failed, requestBytes, milliseconds }: IncomingTransaction): void {
    const { seconds, services } = this.#received.get(source) ?? this.#newSource(source);
    const counts = services.get(service) ?? this.#newService(services, service);
    if (failed) counts.refused += 1;
    else counts.accepted += 1;
    counts.bytes += requestBytes;
    if (milliseconds !== undefined) seconds.observe(milliseconds / 1000);
  }

  /** Shows the series of a source, with 0, before its first request. */
  show(source: string, declared: readonly RefusalCause[]): void {
    const { services } = this.#received.get(source) ?? this.#newSource(source);
    if (services.size === 0) this.#newService(services, NO_SERVICE);
    const known = this.#refusedBy(source);
    for (const one of declared) {
      if (!known.has(keyOf(one)) && known.size < MOST_CAUSES) known.set(keyOf(one), { ...one, count: 0 });
    }
  }

  refused(source: string, refusal: RefusalCause): void {
    const known = this.#refusedBy(source);
    const isNew = !known.has(keyOf(refusal));
    const { status, cause } = isNew && known.size >= MOST_CAUSES ? { status: 0, cause: "other" } : refusal;
    const counted = known.get(keyOf({ status, cause })) ?? { status, cause, count: 0 };
    counted.count += 1;
    known.set(keyOf(counted), counted);
  }

  #newSource(source: string): Received {
    const received = { seconds: this.histograms[0].add({ source }), services: new Map() };
    this.#received.set(source, received);
    return received;
  }

  #newService(services: Map<string, ServiceCounts>, service: string): ServiceCounts {
    const label = this.#labels.of(service);
    const counts = services.get(label) ?? { accepted: 0, refused: 0, bytes: 0 };
    services.set(label, counts);
    return counts;
  }

  #refusedBy(source: string): Map<string, Refused> {
    const known = this.#refused.get(source);
    if (known !== undefined) return known;
    const added = new Map(usual.map((one) => [keyOf(one), { ...one, count: 0 }]));
    this.#refused.set(source, added);
    return added;
  }

  #allRefused() {
    return [...this.#refused].flatMap(([source, causes]) => [...causes.values()].map((one) => ({ source, ...one })));
  }
}

interface Received {
  readonly seconds: Series;
  readonly services: Map<string, ServiceCounts>;
}

/** What a source received of one service. */
interface ServiceCounts {
  accepted: number;
  refused: number;
  bytes: number;
}

interface Refused extends RefusalCause {
  count: number;
}

function keyOf({ status, cause }: RefusalCause): string {
  return `${status} ${cause}`;
}

function* listed(sources: ReadonlyMap<string, Received>) {
  for (const [source, { services }] of sources) {
    for (const [service, counts] of services) yield { source, service, ...counts };
  }
}

interface Counts {
  readonly received: () => Iterable<ServiceCounts & { readonly source: string; readonly service: string }>;
  readonly refused: () => Iterable<Refused & { readonly source: string }>;
}

function addCounters(readings: Readings, { received, refused }: Counts): void {
  readings.addCounter({
    name: "deneb_source_refused_total",
    help: "Requests that a source refused.",
    labels: ["source", "status", "cause"],
    *read() {
      for (const { source, status, cause, count } of refused()) yield [[source, String(status), cause], count];
    },
  });
  readings.addCounter({
    name: "deneb_source_notifications_total",
    help: "Requests that a source answered.",
    labels: ["source", "service", "result"],
    *read() {
      for (const { source, service, ...counts } of received()) {
        yield [[source, service, "accepted"], counts.accepted];
        yield [[source, service, "refused"], counts.refused];
      }
    },
  });
  readings.addCounter({
    name: "deneb_source_received_bytes_total",
    help: "Bytes of the bodies that a source received.",
    labels: ["source", "service"],
    *read() {
      for (const { source, service, bytes } of received()) yield [[source, service], bytes];
    },
  });
}

/** Refusals that say something about one service. */
const causesOfService: ReadonlySet<string> = new Set(["quota", "channel-share-full"]);

/** Counts, by service, what is refused because of what that service sent or holds. */
export function quotaInstruments(registry: Registry, labels: ServiceLabels): Pick<TransactionObserver, "refused"> {
  const counter = new Counter({
    name: "deneb_source_over_quota_total",
    help: "Requests that a source refused because their service sent, or has in a channel, more than it may.",
    labelNames: ["source", "service", "cause"],
    registers: [registry],
  });
  return {
    refused: (source, { cause, service }) => {
      if (service !== undefined && causesOfService.has(cause))
        counter.inc({ source, service: labels.of(service), cause });
    },
  };
}
