import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Metrics } from "../sdk/index.js";
import type { TransactionObserver } from "../tokens.js";
import { type Histogram, histogramsText } from "./histogram.js";
import { PluginInstruments } from "./plugin-instruments.js";
import { ServiceLabels } from "./scopes.js";
import { SinkInstruments } from "./sink-instruments.js";
import { SourceInstruments } from "./source-instruments.js";
import {
  addDeadLetterInstruments,
  addStateInstruments,
  type ComponentStates,
  type DeadLetterStates,
} from "./state-instruments.js";

/** The metrics of the process and of the agent in the text format of Prometheus. */
export class Prometheus {
  readonly #instruments = new Registry();
  readonly #version: Gauge;
  readonly #wrongTokens: Counter;
  readonly #sources: SourceInstruments;
  readonly #histograms: readonly Histogram[];
  readonly #plugins: PluginInstruments;
  readonly #strays: Counter;
  readonly #reloads: Counter;
  readonly #lastReload: Gauge;
  readonly #lastReloadOk: Gauge;
  readonly observers: readonly Partial<TransactionObserver>[];

  constructor(mostServices: number) {
    collectDefaultMetrics({ register: this.#instruments });
    const info = { name: "deneb_info", help: "The running version.", labelNames: ["version"] };
    this.#version = new Gauge({ ...info, registers: [this.#instruments] });
    const help = "Calls of the management interface with a token that is not configured.";
    this.#wrongTokens = new Counter({
      name: "deneb_management_wrong_tokens_total",
      help,
      registers: [this.#instruments],
    });
    this.#plugins = new PluginInstruments();
    const registers = [this.#instruments];
    this.#strays = new Counter({
      name: "deneb_stray_errors_total",
      help: "Errors that a plugin of others did not catch, by its type and the component; several when one of them threw it.",
      labelNames: ["plugin", "component"],
      registers,
    });
    this.#reloads = new Counter({
      name: "deneb_reloads_total",
      help: "Reloads of the configuration.",
      labelNames: ["result"],
      registers,
    });
    for (const result of ["ok", "failed"]) this.#reloads.inc({ result }, 0);
    this.#lastReload = new Gauge({
      name: "deneb_reload_timestamp_seconds",
      help: "When the last reload of each result ended, seconds since 1970; absent before the first.",
      labelNames: ["result"],
      registers,
    });
    this.#lastReloadOk = new Gauge({
      name: "deneb_reload_ok",
      help: "0 when the last reload failed, else 1.",
      registers,
    });
    this.#lastReloadOk.set(1);
    const labels = new ServiceLabels(mostServices);
    this.#sources = new SourceInstruments(this.#instruments, labels);
    const sinks = new SinkInstruments(this.#instruments, labels);
    this.#histograms = [...this.#sources.histograms, ...sinks.histograms];
    const unrouted = new Counter({
      name: "deneb_source_unrouted_events_total",
      help: "Events that were dropped because the selector of their source chose no channel.",
      labelNames: ["source"],
      registers,
    });
    const others = { unrouted: (source: string, events: number) => unrouted.inc({ source }, events) };
    this.observers = [this.#sources, sinks, others];
  }

  get contentType(): string {
    return this.#instruments.contentType;
  }

  /** Adds the states of the components; called once. */
  observe(states: () => ComponentStates): void {
    addStateInstruments(this.#instruments, states);
    this.#sources.sources = () =>
      states()
        .components.filter(({ kind }) => kind === "source")
        .map(({ name }) => name);
  }

  setVersion(version: string): void {
    this.#version.set({ version }, 1);
  }

  countWrongToken(): void {
    this.#wrongTokens.inc();
  }

  /** The metrics that a component creates itself. */
  metricsOf(component: string): Metrics {
    return this.#plugins.of(component);
  }

  countStrayError(plugin: string, component: string): void {
    this.#strays.inc({ plugin, component });
  }

  /** Forgets the metrics of components that a reload removed. */
  keepMetricsOf(components: ReadonlySet<string>): void {
    this.#plugins.keep(components);
  }

  /** Counts a reload of the configuration. */
  reloaded(ok: boolean, at: Date): void {
    this.#reloads.inc({ result: ok ? "ok" : "failed" });
    this.#lastReload.set({ result: ok ? "ok" : "failed" }, at.getTime() / 1000);
    this.#lastReloadOk.set(ok ? 1 : 0);
  }

  /** Adds the states of the dead letters; called once. */
  observeDeadLetters(counts: () => readonly DeadLetterStates[]): void {
    addDeadLetterInstruments(this.#instruments, counts);
  }

  async text(): Promise<string> {
    return `${await this.#instruments.metrics()}\n${await histogramsText(this.#histograms, this.#plugins.json())}`;
  }
}
