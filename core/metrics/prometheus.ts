import { collectDefaultMetrics, Registry } from "prom-client";
import type { Metrics } from "../sdk/index.js";
import type { SpanCounts, TransactionObserver } from "../tokens.js";
import { AgentInstruments, type FileState, type StrayLabels } from "./agent-instruments.js";
import { addBookInstruments, type ChannelBooks } from "./book-instruments.js";
import { addDeadLetterInstruments, type DeadLetterReadings } from "./dead-letter-instruments.js";
import { familiesText } from "./exposition.js";
import type { Histogram } from "./histogram.js";
import { addHostInstruments, type HostStates } from "./host-instruments.js";
import { PluginInstruments } from "./plugin-instruments.js";
import { Readings } from "./readings.js";
import { ServiceLabels } from "./scopes.js";
import { SinkInstruments } from "./sink-instruments.js";
import { quotaInstruments, type RefusalCause, SourceInstruments } from "./source-instruments.js";
import { addStateInstruments, type ComponentStates } from "./state-instruments.js";
import { addTracingInstruments } from "./tracing-instruments.js";

/** Gauges of prom-client whose names end as those of counters do; each has one with a label `type` that says more. */
const misnamed = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** What is read from the parts of an agent at each scrape. */
export interface AgentReadings {
  readonly components: () => ComponentStates;
  readonly letters: DeadLetterReadings;
  /** The refusals that a source, its handler included, declares. */
  readonly refusals: (source: string) => readonly RefusalCause[];
  readonly books: () => Promise<readonly ChannelBooks[]>;
  readonly host: () => Promise<HostStates>;
}

/** The metrics of the process and of the agent in the text format of Prometheus. */
export class Prometheus {
  readonly #instruments = new Registry();
  readonly #agent: AgentInstruments;
  readonly #sources: SourceInstruments;
  readonly #sinks: SinkInstruments;
  readonly #histograms: readonly Histogram[];
  readonly #plugins = new PluginInstruments();
  readonly #read = new Readings();
  #agentReadings: AgentReadings | undefined;
  /** Read once for all metrics of a scrape. */
  #states: ComponentStates = { components: [], conditions: [], channels: [], sinks: [], logs: [] };
  #books: readonly ChannelBooks[] = [];
  #host: HostStates = { disks: [], certificates: [] };
  readonly observers: readonly Partial<TransactionObserver>[];

  constructor(mostServices: number) {
    collectDefaultMetrics({ register: this.#instruments });
    for (const name of misnamed) this.#instruments.removeSingleMetric(name);
    this.#agent = new AgentInstruments(this.#instruments, this.#read);
    const labels = new ServiceLabels(mostServices);
    this.#sources = new SourceInstruments(this.#read, labels);
    this.#sinks = new SinkInstruments(this.#instruments, labels);
    this.#histograms = [...this.#sources.histograms, ...this.#sinks.histograms];
    const others = { unrouted: (source: string, events: number) => this.#agent.countUnrouted(source, events) };
    this.observers = [this.#sources, this.#sinks, others, quotaInstruments(this.#instruments, labels)];
  }

  get contentType(): string {
    return this.#instruments.contentType;
  }

  /** Adds what is read from the parts of the agent; called once. */
  observe(readings: AgentReadings): void {
    this.#agentReadings = readings;
    addStateInstruments(this.#read, () => this.#states);
    addDeadLetterInstruments(this.#read, readings.letters);
    addBookInstruments(this.#read, () => this.#books);
    addHostInstruments(this.#read, () => this.#host);
  }

  setVersion(version: string): void {
    this.#agent.setVersion(version);
  }

  countWrongToken(): void {
    this.#agent.countWrongToken();
  }

  /** The metrics that a component creates itself. */
  metricsOf(component: string): Metrics {
    return this.#plugins.of(component);
  }

  /** `by` 0 shows the series before the first error. */
  countStrayError(labels: StrayLabels, by?: number): void {
    this.#agent.countStrayError(labels, by);
  }

  /** Forgets the metrics of components that a reload removed. */
  keepMetricsOf(components: ReadonlySet<string>): void {
    this.#plugins.keep(components);
  }

  reloaded(ok: boolean, at: Date): void {
    this.#agent.reloaded(ok, at);
  }

  set configurationFile(state: FileState) {
    this.#agent.file = state;
  }

  /** Adds what became of spans; called once, when tracing is on. */
  observeTracing(counts: () => SpanCounts): void {
    addTracingInstruments(this.#read, counts);
  }

  async text(): Promise<string> {
    await this.#update();
    const own = [...this.#read.families(), ...this.#histograms.map((one) => one.family()), ...this.#plugins.exposed()];
    return `${await this.#instruments.metrics()}\n${familiesText(own)}`;
  }

  /** Series of components are there from their start, so that the first event is an increase. */
  async #update(): Promise<void> {
    if (this.#agentReadings === undefined) return;
    const { components, refusals, books, host } = this.#agentReadings;
    this.#states = components();
    const sources = this.#states.components.flatMap(({ kind, name }) => (kind === "source" ? [name] : []));
    for (const source of sources) {
      this.#sources.show(source, refusals(source));
      this.#agent.countUnrouted(source, 0);
    }
    for (const { name, keeper } of this.#states.sinks) this.#sinks.show(name, keeper);
    [this.#books, this.#host] = await Promise.all([books(), host()]);
  }
}
