import { Histogram, type HistogramConfiguration, type LabelValues } from "prom-client";

/** The observations of one combination of labels. */
export class Tally {
  readonly #bounds: readonly number[];
  /** By bound those that are not above it and above the one before; the last for what is above all. */
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

  /** As a scrape shows them: each bucket with all observations up to its bound. */
  values<T extends string>(name: string, labels: LabelValues<T>) {
    let count = 0;
    const buckets = this.#bounds.map((le, at) => {
      count += this.#counts[at] ?? 0;
      return { suffix: "bucket", labels: { le, ...labels }, value: count };
    });
    const all = [
      ...buckets,
      { suffix: "bucket", labels: { le: "+Inf", ...labels }, value: this.#count },
      { suffix: "sum", labels, value: this.#sum },
      { suffix: "count", labels, value: this.#count },
    ];
    return all.map(({ suffix, ...rest }) => ({ metricName: `${name}_${suffix}`, sharedLabels: {}, ...rest }));
  }
}

/**
 * A histogram that counts by itself what is observed for every event: the one it stands for makes a text of the labels
 * each time.
 */
export class TalliedHistogram<T extends string> extends Histogram<T> {
  readonly #about: Pick<HistogramConfiguration<T>, "name" | "help">;
  readonly #bounds: readonly number[];
  readonly #tallies: { readonly labels: LabelValues<T>; readonly tally: Tally }[] = [];

  constructor(configuration: HistogramConfiguration<T> & { readonly buckets: number[] }) {
    super(configuration);
    this.#about = configuration;
    this.#bounds = configuration.buckets;
  }

  /** What observes for these labels from now on; to be asked for once. */
  tally(labels: LabelValues<T>): Tally {
    const tally = new Tally(this.#bounds);
    this.#tallies.push({ labels, tally });
    return tally;
  }

  /** What a registry, and `get`, ask for; the library does not type it. */
  async getForPromString() {
    const { name, help } = this.#about;
    const values = this.#tallies.flatMap(({ labels, tally }) => tally.values(name, labels));
    return { name, help, type: "histogram", aggregator: "sum", values };
  }
}
