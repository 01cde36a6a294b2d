import { type Family, labelText, lineOf, seriesOf } from "./exposition.js";

/** The values of the labels of one series, in the order of their names, and its value; undefined: no series now. */
type Reading<Names extends readonly string[]> = readonly [
  labels: { readonly [At in keyof Names]: string },
  value: number | undefined,
];

interface ReadInstrument<Names extends readonly string[]> {
  readonly name: string;
  readonly help: string;
  readonly labels: Names;
  /** Called at each scrape; what it leaves out has no series. */
  readonly read: () => Iterable<Reading<Names>>;
}

/** Metrics whose values are kept elsewhere and read at each scrape. */
export class Readings {
  readonly #read: (() => Family)[] = [];

  addGauge<const Names extends readonly string[]>(instrument: ReadInstrument<Names>): void {
    this.#read.push(() => familyOf("gauge", instrument));
  }

  addCounter<const Names extends readonly string[]>(instrument: ReadInstrument<Names>): void {
    this.#read.push(() => familyOf("counter", instrument));
  }

  families(): readonly Family[] {
    return this.#read.map((read) => read());
  }
}

/** Of a series that is read twice the last value counts: a scrape must have one. */
function familyOf<Names extends readonly string[]>(
  type: "counter" | "gauge",
  { name, help, labels, read }: ReadInstrument<Names>,
): Family {
  const values = new Map<string, number>();
  for (const [own, value] of read()) {
    if (isNumber(value))
      values.set(labels.map((label, at) => labelText(label, String(own[at] ?? ""))).join(","), value);
  }
  return { name, help, type, lines: Array.from(values, ([series, value]) => lineOf(seriesOf(name, series), value)) };
}

/** What a plugin tells may be anything, and one odd value would be the end of a whole scrape. */
function isNumber(value: number | undefined): value is number {
  return Number.isFinite(value);
}
