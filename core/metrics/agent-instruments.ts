import { Counter, Gauge, type Registry } from "prom-client";
import type { Readings } from "./readings.js";

/** What the properties file on disk is, compared with the configuration that runs. */
const fileStates = ["ok", "faulty", "not-applied", "missing", "unreadable"] as const;
export type FileState = (typeof fileStates)[number];

/** A component of a plugin of others. */
export interface StrayLabels {
  readonly plugin: string;
  /** Empty when the error is of no component that runs. */
  readonly component: string;
}

/** Metrics about the agent as a whole: version, calls with wrong tokens, errors of plugins, reloads. */
export class AgentInstruments {
  readonly #version: Gauge;
  readonly #wrongTokens: Counter;
  readonly #strays: Counter;
  readonly #unrouted: Counter;
  readonly #reloads: Counter;
  readonly #lastReload: Gauge;
  readonly #lastReloadOk: Gauge;
  #file: FileState | undefined;

  constructor(registry: Registry, readings: Readings) {
    const registers = [registry];
    const info = { name: "deneb_info", help: "The running version.", labelNames: ["version"] };
    this.#version = new Gauge({ ...info, registers });
    this.#wrongTokens = new Counter({
      name: "deneb_management_wrong_tokens_total",
      help: "Calls of the management interface with a token that is not configured.",
      registers,
    });
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
    this.#unrouted = new Counter({
      name: "deneb_source_unrouted_events_total",
      help: "Events that were dropped because the selector of their source chose no channel.",
      labelNames: ["source"],
      registers,
    });
    readings.addGauge({
      name: "deneb_configuration_file",
      help: "1 for what the properties file on disk is at the last check, 0 for the others; absent without a file.",
      labels: ["state"],
      read: () =>
        this.#file === undefined ? [] : fileStates.map((one) => [[one], one === this.#file ? 1 : 0] as const),
    });
  }

  setVersion(version: string): void {
    this.#version.set({ version }, 1);
  }

  countWrongToken(): void {
    this.#wrongTokens.inc();
  }

  countStrayError({ plugin, component }: StrayLabels, by = 1): void {
    this.#strays.inc({ plugin, component }, by);
  }

  countUnrouted(source: string, events: number): void {
    this.#unrouted.inc({ source }, events);
  }

  /** Counts a reload of the configuration. */
  reloaded(ok: boolean, at: Date): void {
    this.#reloads.inc({ result: ok ? "ok" : "failed" });
    this.#lastReload.set({ result: ok ? "ok" : "failed" }, at.getTime() / 1000);
    this.#lastReloadOk.set(ok ? 1 : 0);
  }

  set file(state: FileState) {
    this.#file = state;
  }
}
