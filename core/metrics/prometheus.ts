import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { TransactionObserver } from "../tokens.js";
import type { ComponentStates } from "./component-states.js";
import { addLetterInstruments, type LetterStates } from "./letter-instruments.js";
import { observers } from "./observers.js";
import { RefusalInstruments } from "./refusal-instruments.js";
import { addStateInstruments } from "./state-instruments.js";
import { TransactionInstruments } from "./transaction-instruments.js";

/** The metrics of the process and of the agent in the text format of Prometheus, in a registry of their own. */
export class Prometheus {
  readonly #instruments = new Registry();
  readonly #version: Gauge;
  readonly #wrongTokens: Counter;
  readonly #refusals: RefusalInstruments;
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
    this.#refusals = new RefusalInstruments(this.#instruments);
    const unrouted = new Counter({
      name: "deneb_source_unrouted_events_total",
      help: "Events that were dropped because the selector of their source chose no channel.",
      labelNames: ["source"],
      registers: [this.#instruments],
    });
    const transactions = new TransactionInstruments(this.#instruments, mostServices);
    this.observer = {
      ...observers([transactions, this.#refusals]),
      unrouted: (source, events) => unrouted.inc({ source }, events),
    };
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

  /** Adds what is known of dead letters; called once. */
  observeLetters(counts: () => readonly LetterStates[]): void {
    addLetterInstruments(this.#instruments, counts);
  }

  async text(): Promise<string> {
    return await this.#instruments.metrics();
  }
}
