import { Counter, Gauge, type Registry } from "prom-client";
import { AgentError, type MetricCounter, type MetricGauge, type MetricLabels, type Metrics } from "../sdk/index.js";
import { OTHER } from "./scopes.js";

/** Combinations of labels that one metric of a component may have. */
const MOST_COMBINATIONS = 100;
/** Metrics that all components together may make. */
const MOST_METRICS = 200;
const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const PREFIX = "deneb_plugin_";

type Instrument = Counter | Gauge;

interface Family<I extends Instrument> {
  readonly instrument: I;
  readonly labels: readonly string[];
}

/** The metrics that components make by themselves, with a label for the component and a bound for each. */
export class PluginInstruments {
  readonly #registers: Registry[];
  readonly #counters = new Map<string, Family<Counter>>();
  readonly #gauges = new Map<string, Family<Gauge>>();
  readonly #combinations = new Map<string, Set<string>>();

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  of(component: string): Metrics {
    return {
      counter: (name, help, labels = []) => this.#counter(component, name, { help, labels }),
      gauge: (name, help, labels = []) => this.#gauge(component, name, { help, labels }),
    };
  }

  #counter(component: string, name: string, about: About): MetricCounter {
    const { instrument, labels } = this.#counters.get(name) ?? this.#make(this.#counters, name, about, Counter);
    if (labels.length === 0) instrument.inc({ component }, 0);
    return {
      add: (by = 1, values = {}) => {
        if (Number.isFinite(by) && by > 0) instrument.inc(this.#labelsOf({ component, name, labels }, values), by);
      },
    };
  }

  #gauge(component: string, name: string, about: About): MetricGauge {
    const { instrument, labels } = this.#gauges.get(name) ?? this.#make(this.#gauges, name, about, Gauge);
    if (labels.length === 0) instrument.inc({ component }, 0);
    return {
      set: (value, values = {}) => {
        if (Number.isFinite(value)) instrument.set(this.#labelsOf({ component, name, labels }, values), value);
      },
    };
  }

  #make<I extends Instrument>(
    families: Map<string, Family<I>>,
    name: string,
    { help, labels }: About,
    Kind: new (about: { name: string; help: string; labelNames: string[]; registers: Registry[] }) => I,
  ): Family<I> {
    const wrong = [name, ...labels].find((one) => !NAME.test(one) || one === "component" || one === "le");
    if (wrong !== undefined) throw unusable(name, `"${wrong}" is not a name of lower-case letters, digits and "_"`);
    if (this.#counters.has(name) || this.#gauges.has(name)) throw unusable(name, "the name is taken by another kind");
    if (this.#counters.size + this.#gauges.size >= MOST_METRICS) throw unusable(name, `there are ${MOST_METRICS}`);
    const labelNames = ["component", ...labels];
    const instrument = new Kind({ name: PREFIX + name, help, labelNames, registers: this.#registers });
    const family = { instrument, labels };
    families.set(name, family);
    return family;
  }

  /** Beyond the bound all labels are `(other)`; labels that were not declared are left out. */
  #labelsOf({ component, name, labels }: Named, values: MetricLabels): Record<string, string> {
    if (labels.length === 0) return { component };
    const key = `${name}\0${component}`;
    const known = this.#combinations.get(key) ?? new Set();
    this.#combinations.set(key, known);
    const own = labels.map((label) => String(values[label] ?? ""));
    const combination = JSON.stringify(own);
    const isNew = !known.has(combination);
    if (isNew && known.size < MOST_COMBINATIONS) known.add(combination);
    const isBeyond = isNew && !known.has(combination);
    const entries = labels.map((label, at) => [label, isBeyond ? OTHER : (own[at] ?? "")]);
    return { component, ...Object.fromEntries(entries) };
  }
}

interface About {
  readonly help: string;
  readonly labels: readonly string[];
}

interface Named {
  readonly component: string;
  readonly name: string;
  readonly labels: readonly string[];
}

function unusable(name: string, reason: string): AgentError {
  return new AgentError("METRIC_UNUSABLE", `making the metric "${name}": ${reason}`, { retryable: false });
}
