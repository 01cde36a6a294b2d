import { Counter, Histogram, type Registry } from "prom-client";
import type { Event, IncomingTransaction } from "../sdk/index.js";
import type { TransactionObserver, WriteAttempt } from "../tokens.js";
import { ageOf, byScope, OTHER, shares } from "./scopes.js";

const quickSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const delaySeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** The counters and histograms of transactions. They only grow: resetting the metrics of 2.10 leaves them alone. */
export class TransactionInstruments implements TransactionObserver {
  readonly #mostServices: number;
  readonly #services = new Set<string>();
  readonly #instruments: ReturnType<typeof instrumentsIn>;

  /** Beyond `mostServices` services, further ones are counted together. */
  constructor(registry: Registry, mostServices: number) {
    this.#mostServices = mostServices;
    this.#instruments = instrumentsIn(registry);
  }

  received(source: string, transaction: IncomingTransaction): void {
    const { notifications, received, requests } = this.#instruments;
    const service = this.#labelOf(transaction.service);
    notifications.inc({ source, service, result: transaction.failed ? "refused" : "accepted" });
    received.inc({ source, service }, transaction.requestBytes);
    if (transaction.milliseconds !== undefined) requests.observe({ source }, transaction.milliseconds / 1000);
  }

  attempted({ sink, events, startedAt, finishedAt, receipt }: WriteAttempt): void {
    const { writes, sent, durations, batches, delays } = this.#instruments;
    const result = receipt === undefined ? "failed" : "stored";
    durations.observe({ sink, result }, Math.max(0, finishedAt.getTime() - startedAt.getTime()) / 1000);
    batches.observe({ sink }, events.length);
    const groups = [...byScope(events).values()];
    const bytes = shares(
      receipt?.requestBytes ?? 0,
      groups.map((group) => group.events.length),
    );
    for (const [index, group] of groups.entries()) {
      const service = this.#labelOf(group.scope.service);
      writes.inc({ sink, service, result }, group.events.length);
      sent.inc({ sink, service }, bytes[index]);
    }
    if (receipt === undefined) return;
    for (const event of events) delays.observe({ sink }, ageOf(event, finishedAt) / 1000);
  }

  givenUp(sink: string, events: readonly Event[]): void {
    for (const { scope, events: own } of byScope(events).values()) {
      this.#instruments.deadLetters.inc({ sink, service: this.#labelOf(scope.service) }, own.length);
    }
  }

  #labelOf(service: string): string {
    if (this.#services.has(service)) return service;
    if (this.#services.size >= this.#mostServices) return OTHER;
    this.#services.add(service);
    return service;
  }
}

function instrumentsIn(registry: Registry) {
  const registers = [registry];
  return {
    notifications: new Counter({
      name: "deneb_source_notifications_total",
      help: "Requests that a source answered.",
      labelNames: ["source", "service", "result"],
      registers,
    }),
    received: new Counter({
      name: "deneb_source_received_bytes_total",
      help: "Bytes of the bodies that a source received.",
      labelNames: ["source", "service"],
      registers,
    }),
    requests: new Histogram({
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
    delays: new Histogram({
      name: "deneb_sink_delay_seconds",
      help: "Time from the reception of an event until it was stored.",
      labelNames: ["sink"],
      buckets: delaySeconds,
      registers,
    }),
  };
}
