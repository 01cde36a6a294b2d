import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Metrics } from "../sdk/index.js";
import type { TransactionObserver } from "../tokens.js";
import type { ComponentStates } from "./component-states.js";
import { addLetterInstruments, type LetterStates } from "./letter-instruments.js";
import { observers } from "./observers.js";
import { PluginInstruments } from "./plugin-instruments.js";
import { RefusalInstruments } from "./refusal-instruments.js";
import { addStateInstruments } from "./state-instruments.js";
import { TransactionInstruments } from "./transaction-instruments.js";

/** The metrics of the process and of the agent in the text format of Prometheus, in a registry of their own. */
export class Prometheus {
  readonly #instruments = new Registry();
  readonly #version: Gauge;
  readonly #wrongTokens: Counter;
  readonly #refusals: RefusalInstruments;
  readonly #plugins: PluginInstruments;
  readonly #reloads: Counter;
  readonly #lastReload: Gauge;
  readonly #lastReloadOk: Gauge;
  readonly observer: TransactionObserver;

  constructor(mostServices: number) {
    collectDefaultMetrics({ register: this.#instruments });
    const labels = { name: "deneb_info", help: "The running version.", labelNames: ["version"] };
    this.#version = new Gauge({ ...labels, registers: [this.#instruments] });
    const help = "Calls of the management interface with a token that is not configured.";
    this.#wrongTokens = new Counter({
      name: "deneb_management_wrong_tokens_total",
      help,
      registers: [this.#instruments],
    });
    this.#plugins = new PluginInstruments(this.#instruments);
    const registers = [this.#instruments];
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
    this.#refusals = new RefusalInstruments(this.#instruments);
    this.observer = observers([new TransactionInstruments(this.#instruments, mostServices), this.#refusals]);
  }

  get contentType(): string {
    return this.#instruments.contentType;
  }

  /** Adds what an agent's components look like; called once. */
  observe(states: () => ComponentStates): void {
    addStateInstruments(this.#instruments, states);
    this.#refusals.sources = () =>
      states()
        .components.filter(({ kind }) => kind === "source")
        .map(({ name }) => name);
  }

  tellVersion(version: string): void {
    this.#version.set({ version }, 1);
  }

  countWrongToken(): void {
    this.#wrongTokens.inc();
  }

  /** The metrics that a component makes by itself. */
  metricsOf(component: string): Metrics {
    return this.#plugins.of(component);
  }

  /** Counts a reload of the configuration. */
  reloaded(ok: boolean, at: Date): void {
    this.#reloads.inc({ result: ok ? "ok" : "failed" });
    this.#lastReload.set({ result: ok ? "ok" : "failed" }, at.getTime() / 1000);
    this.#lastReloadOk.set(ok ? 1 : 0);
  }

  /** Adds what is known of dead letters; called once. */
  observeLetters(counts: () => readonly LetterStates[]): void {
    addLetterInstruments(this.#instruments, counts);
  }

  async text(): Promise<string> {
    return await this.#instruments.metrics();
  }
}
