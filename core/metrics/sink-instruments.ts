import { Counter, type Registry } from "prom-client";
import type { Event } from "../sdk/index.js";
import type { TransactionObserver, WriteAttempt } from "../tokens.js";
import { Histogram, type Series } from "./histogram.js";
import { byScope, forAges, type ServiceLabels, shares } from "./scopes.js";

/** Metrics about the writes of sinks. They only grow: resetting the metrics by service does not change them. */
export class SinkInstruments implements Pick<TransactionObserver, "attempted" | "givenUp"> {
  readonly #labels: ServiceLabels;
  readonly #counters: ReturnType<typeof countersIn>;
  readonly #durations = new Histogram({
    name: "deneb_sink_write_seconds",
    help: "Time that one write took.",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  readonly #batches = new Histogram({
    name: "deneb_sink_batch_events",
    help: "Events of one write.",
    buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000],
  });
  readonly #delays = new Histogram({
    name: "deneb_sink_delay_seconds",
    help: "Time from the reception of an event until it was stored.",
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  });
  readonly histograms = [this.#durations, this.#batches, this.#delays] as const;
  readonly #bySink = new Map<string, SinkSeries>();
  readonly #keepers = new Set<string>();

  constructor(registry: Registry, labels: ServiceLabels) {
    this.#labels = labels;
    this.#counters = countersIn(registry);
  }

  attempted({ sink, events, startedAt, finishedAt, receipt }: WriteAttempt): void {
    const result = receipt === undefined ? "failed" : "stored";
    const series = this.#seriesOf(sink);
    series[result].observe(Math.max(0, finishedAt.getTime() - startedAt.getTime()) / 1000);
    series.batches.observe(events.length);
    this.#count({ sink, events, result, bytes: receipt?.requestBytes ?? 0 });
    if (receipt === undefined) return;
    forAges(events, finishedAt, (age) => series.delays.observe(age / 1000));
  }

  /** Shows the series of a sink, with 0, before its first write; dead letters are kept under the name of its keeper. */
  show(sink: string, keeper: string): void {
    this.#seriesOf(sink);
    if (!this.#keepers.has(keeper)) this.#counters.deadLetters.inc({ sink: keeper, service: NO_SERVICE }, 0);
    this.#keepers.add(keeper);
  }

  givenUp(sink: string, events: readonly Event[]): void {
    for (const { service, events: own } of byScope(events)) {
      this.#counters.deadLetters.inc({ sink, service: this.#labels.of(service) }, own.length);
    }
  }

  #count({ sink, events, result, bytes }: Write): void {
    const groups = byScope(events);
    const sizes = groups.map((group) => group.events.length);
    const parts = shares(bytes, sizes);
    for (const [index, group] of groups.entries()) {
      const service = this.#shown(sink, this.#labels.of(group.service));
      this.#counters.writes.inc({ sink, service, result }, group.events.length);
      this.#counters.sent.inc({ sink, service }, parts[index]);
    }
  }

  #seriesOf(sink: string): SinkSeries {
    const known = this.#bySink.get(sink);
    if (known !== undefined) return known;
    const series = {
      batches: this.#batches.add({ sink }),
      stored: this.#durations.add({ sink, result: "stored" }),
      failed: this.#durations.add({ sink, result: "failed" }),
      delays: this.#delays.add({ sink }),
      services: new Set<string>(),
    };
    this.#bySink.set(sink, series);
    this.#shown(sink, NO_SERVICE);
    return series;
  }

  /** A service has a series for each result as soon as it has one. */
  #shown(sink: string, service: string): string {
    const { services } = this.#seriesOf(sink);
    if (services.has(service)) return service;
    services.add(service);
    for (const result of ["stored", "failed"]) this.#counters.writes.inc({ sink, service, result }, 0);
    this.#counters.sent.inc({ sink, service }, 0);
    return service;
  }
}

/** The service of events that name none; its series are shown before the first write. */
const NO_SERVICE = "";

interface SinkSeries {
  readonly batches: Series;
  readonly stored: Series;
  readonly failed: Series;
  readonly delays: Series;
  /** Labels of services that are shown. */
  readonly services: Set<string>;
}

interface Write {
  readonly sink: string;
  readonly events: readonly Event[];
  readonly result: "stored" | "failed";
  readonly bytes: number;
}

function countersIn(registry: Registry) {
  const registers = [registry];
  return {
    writes: new Counter({
      name: "deneb_sink_writes_total",
      help: "Events handed to a sink, once for each attempt.",
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
      help: "Events that a sink could not store and that became dead letters.",
      labelNames: ["sink", "service"],
      registers,
    }),
  };
}
