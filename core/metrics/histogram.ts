import { type Family, labelsText, labelText, lineOf, seriesOf } from "./exposition.js";

/** The observations of one combination of labels. */
export class Series {
  readonly #bounds: readonly number[];
  /** By bound, the observations up to it and above the bound before; the last for those above all bounds. */
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.#bounds.length && value > (this.#bounds[at] ?? 0)) at += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
    this.#count += 1;
  }

  /** Each bucket with all observations up to its bound, then sum and count; `labels` is their text. */
  lines(name: string, labels: string): readonly string[] {
    const rest = labels === "" ? "" : `,${labels}`;
    const bucket = (bound: string, count: number) =>
      lineOf(seriesOf(`${name}_bucket`, labelText("le", bound) + rest), count);
    let count = 0;
    const buckets = this.#bounds.map((bound, at) => {
      count += this.#counts[at] ?? 0;
      return bucket(String(bound), count);
    });
    return [
      ...buckets,
      bucket("+Inf", this.#count),
      lineOf(seriesOf(`${name}_sum`, labels), this.#sum),
      lineOf(seriesOf(`${name}_count`, labels), this.#count),
    ];
  }
}

interface HistogramDescription {
  readonly name: string;
  readonly help: string;
  /** Upper bounds of the buckets, ascending. */
  readonly buckets: readonly number[];
}

/**
 * A histogram that counts in plain numbers, because it observes every event: the histogram of prom-client validates the
 * labels and builds a text of them for each observation.
 */
export class Histogram {
  readonly #description: HistogramDescription;
  readonly #series: { readonly labels: string; readonly series: Series }[] = [];

  constructor(description: HistogramDescription) {
    this.#description = description;
  }

  /** Adds a series, which a scrape shows from now on; call it once for each combination of labels. */
  add(labels: Readonly<Record<string, string>>): Series {
    const series = new Series(this.#description.buckets);
    this.#series.push({ labels: labelsText(labels), series });
    return series;
  }

  family(): Family {
    const { name, help } = this.#description;
    return {
      name,
      help,
      type: "histogram",
      lines: this.#series.flatMap(({ labels, series }) => series.lines(name, labels)),
    };
  }
}
