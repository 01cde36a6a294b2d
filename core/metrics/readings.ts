import { Counter, Gauge, type LabelValues, type Registry } from "prom-client";

/** The values of the labels of one series, in the order of their names, and its value; undefined: no series now. */
type Reading<Names extends readonly string[]> = readonly [
  labels: { readonly [At in keyof Names]: string },
  value: number | undefined,
];

interface ReadInstrument<Names extends readonly string[]> {
  readonly name: string;
  readonly help: string;
  readonly labels: Names;
  /** Called at each scrape. */
  readonly read: () => Iterable<Reading<Names>>;
}

/** Adds a gauge whose series are read at each scrape; those that are read no more are gone. */
export function addGauge<const Names extends readonly string[]>(
  registry: Registry,
  { name, help, labels, read }: ReadInstrument<Names>,
): void {
  const gauge = new Gauge<string>({ name, help, labelNames: [...labels], registers: [registry], collect });
  function collect() {
    gauge.reset();
    for (const [values, value] of read()) if (isNumber(value)) gauge.set(named(labels, values), value);
  }
}

/** Adds a counter whose counts are kept elsewhere. */
export function addCounter<const Names extends readonly string[]>(
  registry: Registry,
  { name, help, labels, read }: ReadInstrument<Names>,
): void {
  const counter = new Counter<string>({ name, help, labelNames: [...labels], registers: [registry], collect });
  function collect() {
    counter.reset();
    for (const [values, value] of read()) if (isNumber(value)) counter.inc(named(labels, values), value);
  }
}

/** What a plugin tells may be anything, and one odd value would be the end of a whole scrape. */
function isNumber(value: number | undefined): value is number {
  return Number.isFinite(value);
}

function named(names: readonly string[], values: readonly string[]): LabelValues<string> {
  return Object.fromEntries(names.map((name, at) => [name, values[at] ?? ""]));
}
