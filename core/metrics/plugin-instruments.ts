import {
  AgentError,
  type MetricCounter,
  type MetricGauge,
  type MetricHistogram,
  type MetricLabels,
  type Metrics,
} from "../sdk/index.js";
import { type Family as Exposed, labelsText, lineOf, seriesOf } from "./exposition.js";
import { Series } from "./histogram.js";
import { OTHER } from "./scopes.js";

/** Combinations of labels that one metric of a component may have. */
const MOST_COMBINATIONS = 100;
/** Metrics that all components together may make. */
const MOST_METRICS = 200;
const MOST_LABELS = 10;
const MOST_BUCKETS = 50;
/** Characters of the value of a label. */
const LONGEST_VALUE = 100;
const NAME = /^[a-z][a-z0-9_]{0,63}$/;
const PREFIX = "deneb_plugin_";
const RESERVED: readonly string[] = ["component", "le"];

type Type = "counter" | "gauge" | "histogram";

interface Family {
  readonly type: Type;
  readonly help: string;
  /** By component and labels: components may use one name with different labels. */
  readonly tables: Map<string, Table>;
}

/** What one component counts under one name with the same labels. */
interface Table {
  readonly component: string;
  readonly labels: readonly string[];
  readonly rows: Map<string, Row>;
  /** Of a new histogram; a series of none. */
  readonly buckets: readonly number[];
}

interface Row {
  /** Their text. */
  readonly labels: string;
  readonly series: Series;
  value: number;
}

/**
 * The metrics that components make by themselves, with a label for the component and a bound for each. They are plain
 * numbers: metrics of prom-client all have the same labels.
 */
export class PluginInstruments {
  readonly #families = new Map<string, Family>();

  of(component: string): Metrics {
    return {
      counter: (name, help, labels = []) => this.#counter(this.#table("counter", name, { component, help, labels })),
      gauge: (name, help, labels = []) => this.#gauge(this.#table("gauge", name, { component, help, labels })),
      histogram: (name, help, buckets, labels = []) =>
        this.#histogram(this.#table("histogram", name, { component, help, labels, buckets })),
    };
  }

  exposed(): readonly Exposed[] {
    return [...this.#families].map(([family, { type, help, tables }]) => {
      const name = PREFIX + family;
      const rows = [...tables.values()].flatMap((table) => [...table.rows.values()]);
      const lines = rows.flatMap(({ labels, series, value }) =>
        type === "histogram" ? series.lines(name, labels) : [lineOf(seriesOf(name, labels), value)],
      );
      return { name, help, type, lines };
    });
  }

  /** Forgets what components counted that are not there any more. */
  keep(components: ReadonlySet<string>): void {
    for (const { tables } of this.#families.values()) {
      for (const [key, { component }] of tables) if (!components.has(component)) tables.delete(key);
    }
  }

  #counter(table: Table): MetricCounter {
    return {
      add: (by = 1, values = {}) => {
        if (Number.isFinite(by) && by > 0) rowOf(table, values).value += by;
      },
    };
  }

  #gauge(table: Table): MetricGauge {
    return {
      set: (value, values = {}) => {
        if (Number.isFinite(value)) rowOf(table, values).value = value;
      },
    };
  }

  #histogram(table: Table): MetricHistogram {
    return {
      observe: (value, values = {}) => {
        if (Number.isFinite(value)) rowOf(table, values).series.observe(value);
      },
    };
  }

  #table(type: Type, name: string, { component, help, labels, buckets = [] }: About): Table {
    const fault = faultOf(name, labels) ?? (type === "histogram" ? bucketFault(buckets) : undefined);
    if (fault !== undefined) throw unusable(name, fault);
    const family = this.#families.get(name) ?? this.#made(type, name, help);
    if (family.type !== type) throw unusable(name, `the name is taken by a ${family.type}; give it another one`);
    const key = JSON.stringify([component, ...labels.toSorted()]);
    const known = family.tables.get(key);
    if (known !== undefined) return known;
    const table: Table = { component, labels: [...labels], rows: new Map(), buckets: [...buckets] };
    family.tables.set(key, table);
    // A metric with labels has no value before one of them is known.
    if (labels.length === 0) rowOf(table, {});
    return table;
  }

  #made(type: Type, name: string, help: string): Family {
    if (this.#families.size >= MOST_METRICS) throw unusable(name, `there are ${MOST_METRICS} metrics already`);
    const other = [...this.#families].find(([one, { type: kind }]) => shareNames([name, type], [one, kind]))?.[0];
    if (other !== undefined)
      throw unusable(name, `it would be mixed up with a part of "${other}"; give it another name`);
    const family: Family = { type, help: String(help), tables: new Map() };
    this.#families.set(name, family);
    return family;
  }
}

interface About {
  readonly component: string;
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

/** Beyond the bound all labels are `(other)`; labels that were not declared are left out. */
function rowOf({ component, labels, rows, buckets }: Table, given: MetricLabels): Row {
  const own = labels.map((label) => String(given[label] ?? "").slice(0, LONGEST_VALUE));
  const known = rows.get(JSON.stringify(own));
  if (known !== undefined) return known;
  const values = rows.size < MOST_COMBINATIONS ? own : labels.map(() => OTHER);
  const key = JSON.stringify(values);
  const row = rows.get(key) ?? {
    labels: labelsText({ component, ...Object.fromEntries(labels.map((label, at) => [label, values[at] ?? ""])) }),
    series: new Series(buckets),
    value: 0,
  };
  rows.set(key, row);
  return row;
}

function faultOf(name: string, labels: readonly string[]): string | undefined {
  const wrong = [name, ...labels].find((one) => !NAME.test(one));
  if (wrong !== undefined) {
    return `"${String(wrong).slice(0, LONGEST_VALUE)}" is not a name of at most 64 lower-case letters, digits and "_"`;
  }
  const reserved = labels.find((label) => RESERVED.includes(label));
  if (reserved !== undefined) return `the label "${reserved}" is reserved; give it another name`;
  if (new Set(labels).size < labels.length) return "two of its labels have the same name";
  return labels.length > MOST_LABELS ? `it has more than ${MOST_LABELS} labels` : undefined;
}

function bucketFault(buckets: readonly number[]): string | undefined {
  const ascends = buckets.every((bound, at) => Number.isFinite(bound) && (at === 0 || bound > (buckets[at - 1] ?? 0)));
  if (ascends && buckets.length >= 1 && buckets.length <= MOST_BUCKETS) return undefined;
  return `its buckets must be 1 to ${MOST_BUCKETS} ascending numbers, the upper bound of each`;
}

type Named = readonly [name: string, type: Type];

/** The parts of a histogram are series with names of their own. */
function shareNames(one: Named, other: Named): boolean {
  return isPartOf(one, other) || isPartOf(other, one);
}

function isPartOf([name]: Named, [whole, type]: Named): boolean {
  return type === "histogram" && ["_bucket", "_sum", "_count"].some((part) => name === whole + part);
}

function unusable(name: string, reason: string): AgentError {
  const shown = String(name).slice(0, LONGEST_VALUE);
  return new AgentError("METRIC_UNUSABLE", `making the metric "${shown}": ${reason}`, { retryable: false });
}
