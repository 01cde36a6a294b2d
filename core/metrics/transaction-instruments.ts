import { Counter, Histogram, type Registry } from "prom-client";
import type { Event, IncomingTransaction } from "../sdk/index.js";
import type { TransactionObserver, WriteAttempt } from "../tokens.js";
import { ageOf, byScope, OTHER, shares } from "./scopes.js";
import { TalliedHistogram, type Tally } from "./tallied-histogram.js";

const quickSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const delaySeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/**
 * The counters and histograms of transactions. They only grow: resetting the metrics of 2.10 leaves them alone. What
 * every notification and every event changes is counted here and told at each scrape.
 */
export class TransactionInstruments implements TransactionObserver {
  readonly #mostServices: number;
  readonly #services = new Set<string>();
  readonly #sources = new Map<string, SourceTallies>();
  readonly #delays = new Map<string, Tally>();
  readonly #instruments: ReturnType<typeof instrumentsIn>;

  /** Beyond `mostServices` services, further ones are counted together. */
  constructor(registry: Registry, mostServices: number) {
    this.#mostServices = mostServices;
    this.#instruments = instrumentsIn(registry, this.#sources);
  }

  received(source: string, transaction: IncomingTransaction): void {
    const { requests, services } = this.#sources.get(source) ?? this.#newSource(source);
    const counts = services.get(transaction.service) ?? this.#newService(services, transaction.service);
    if (transaction.failed) counts.refused += 1;
    else counts.accepted += 1;
    counts.bytes += transaction.requestBytes;
    if (transaction.milliseconds !== undefined) requests.observe(transaction.milliseconds / 1000);
  }

  attempted({ sink, events, startedAt, finishedAt, receipt }: WriteAttempt): void {
    const { writes, sent, durations, batches } = this.#instruments;
    const result = receipt === undefined ? "failed" : "stored";
    durations.observe({ sink, result }, Math.max(0, finishedAt.getTime() - startedAt.getTime()) / 1000);
    batches.observe({ sink }, events.length);
    const groups = byScope(events);
    const bytes = shares(
      receipt?.requestBytes ?? 0,
      groups.map((group) => group.events.length),
    );
    for (const [index, group] of groups.entries()) {
      const service = this.#labelOf(group.service);
      writes.inc({ sink, service, result }, group.events.length);
      sent.inc({ sink, service }, bytes[index]);
    }
    if (receipt === undefined) return;
    const delays = this.#delays.get(sink) ?? this.#newDelays(sink);
    for (const event of events) delays.observe(ageOf(event, finishedAt) / 1000);
  }

  givenUp(sink: string, events: readonly Event[]): void {
    for (const { service, events: own } of byScope(events)) {
      this.#instruments.deadLetters.inc({ sink, service: this.#labelOf(service) }, own.length);
    }
  }

  #newSource(source: string): SourceTallies {
    const tallies = { requests: this.#instruments.requests.tally({ source }), services: new Map() };
    this.#sources.set(source, tallies);
    return tallies;
  }

  #newService(services: Map<string, ServiceTallies>, service: string): ServiceTallies {
    const label = this.#labelOf(service);
    const counts = services.get(label) ?? { accepted: 0, refused: 0, bytes: 0 };
    services.set(label, counts);
    return counts;
  }

  #newDelays(sink: string): Tally {
    const delays = this.#instruments.delays.tally({ sink });
    this.#delays.set(sink, delays);
    return delays;
  }

  #labelOf(service: string): string {
    if (this.#services.has(service)) return service;
    if (this.#services.size >= this.#mostServices) return OTHER;
    this.#services.add(service);
    return service;
  }
}

interface SourceTallies {
  readonly requests: Tally;
  readonly services: Map<string, ServiceTallies>;
}

/** What a source received of one service. */
interface ServiceTallies {
  accepted: number;
  refused: number;
  bytes: number;
}

function instrumentsIn(registry: Registry, sources: ReadonlyMap<string, SourceTallies>) {
  const registers = [registry];
  return {
    notifications: new Counter({
      name: "deneb_source_notifications_total",
      help: "Requests that a source answered.",
      labelNames: ["source", "service", "result"],
      registers,
      collect() {
        this.reset();
        for (const { source, service, accepted, refused } of talliesOf(sources)) {
          if (accepted > 0) this.inc({ source, service, result: "accepted" }, accepted);
          if (refused > 0) this.inc({ source, service, result: "refused" }, refused);
        }
      },
    }),
    received: new Counter({
      name: "deneb_source_received_bytes_total",
      help: "Bytes of the bodies that a source received.",
      labelNames: ["source", "service"],
      registers,
      collect() {
        this.reset();
        for (const { source, service, bytes } of talliesOf(sources)) this.inc({ source, service }, bytes);
      },
    }),
    requests: new TalliedHistogram({
      name: "deneb_source_request_seconds",
      help: "Time from the reception of a request to its answer.",
      labelNames: ["source"],
      buckets: quickSeconds,
      registers,
    }),
    writes: new Counter({
      name: "deneb_sink_writes_total",
      help: "Events handed to a sink, once for each try.",
      labelNames: ["sink", "service", "result"],
      registers,
    }),
    sent: new Counter({
      name: "deneb_sink_sent_bytes_total",
      help: "Bytes that a sink sent to its store.",
      labelNames: ["sink", "service"],
      registers,
    }),
    deadLetters: new Counter({
      name: "deneb_sink_dead_letters_total",
      help: "Events that a sink gave up.",
      labelNames: ["sink", "service"],
      registers,
    }),
    durations: new Histogram({
      name: "deneb_sink_write_seconds",
      help: "Time that one write took.",
      labelNames: ["sink", "result"],
      buckets: quickSeconds,
      registers,
    }),
    batches: new Histogram({
      name: "deneb_sink_batch_events",
      help: "Events of one write.",
      labelNames: ["sink"],
      buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
      registers,
    }),
    delays: new TalliedHistogram({
      name: "deneb_sink_delay_seconds",
      help: "Time from the reception of an event until it was stored.",
      labelNames: ["sink"],
      buckets: delaySeconds,
      registers,
    }),
  };
}

function* talliesOf(sources: ReadonlyMap<string, SourceTallies>) {
  for (const [source, { services }] of sources) {
    for (const [service, counts] of services) yield { source, service, ...counts };
  }
}
