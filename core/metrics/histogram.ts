import { AggregatorRegistry, type LabelValues } from "prom-client";

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

  /** Each bucket with all observations up to its bound, then sum and count. */
  values(name: string, labels: LabelValues<string>) {
    let count = 0;
    const buckets = this.#bounds.map((le, at) => {
      count += this.#counts[at] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { le: "+Inf", ...labels }, value: this.#count },
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: this.#count },
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
  readonly #series: { readonly labels: LabelValues<string>; readonly series: Series }[] = [];

  constructor(description: HistogramDescription) {
    this.#description = description;
  }

  /** Adds a series, which a scrape shows from now on; call it once for each combination of labels. */
  add(labels: LabelValues<string>): Series {
    const series = new Series(this.#description.buckets);
    this.#series.push({ labels, series });
    return series;
  }

  /** The metric as `getMetricsAsJSON` of a registry of prom-client returns it. */
  json(): object {
    const { name, help } = this.#description;
    const values = this.#series.flatMap(({ labels, series }) => series.values(name, labels));
    return { name, help, type: "histogram", aggregator: "sum", values };
  }
}

/** The histograms, and others in the same form, in the text format of Prometheus, which prom-client writes. */
export async function histogramsText(
  histograms: readonly Histogram[],
  others: readonly object[] = [],
): Promise<string> {
  return await AggregatorRegistry.aggregate([
    [...histograms.map((histogram) => histogram.json()), ...others],
  ]).metrics();
}
