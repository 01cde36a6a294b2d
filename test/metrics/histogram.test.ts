import assert from "node:assert/strict";
import { test } from "node:test";
import { Histogram as LibraryHistogram, Registry } from "prom-client";
import { familiesText } from "../../core/metrics/exposition.js";
import { Histogram } from "../../core/metrics/histogram.js";

const about = { name: "delay_seconds", help: "A \\ delay\nof events.", buckets: [0.01, 0.5, 10] };
const values = [0, 0.01, 0.011, 0.5, 3, 10, 10.5, 1000];

test("a scrape shows the same text as the histogram of prom-client, before and after observations", async () => {
  const library = new Registry();
  const histogram = new Histogram(about);
  const other = new LibraryHistogram({ ...about, labelNames: ["sink", "result"], registers: [library] });
  const before = [familiesText([histogram.family()]), await library.metrics()];

  for (const sink of ["a", 'b\n"c\\', "a,result:stored"])
    for (const result of ["stored", "failed"]) {
      const series = histogram.add({ sink, result });
      for (const value of values) {
        series.observe(value);
        other.observe({ sink, result }, value);
      }
    }

  assert.equal(before[0], before[1]);
  assert.equal(familiesText([histogram.family()]), await library.metrics());
});

test("a series that observed nothing is shown with zeros, as that of prom-client is", async () => {
  const library = new Registry();
  const histogram = new Histogram(about);
  const other = new LibraryHistogram({ ...about, labelNames: ["sink"], registers: [library] });

  histogram.add({ sink: "a" });
  other.zero({ sink: "a" });

  assert.equal(familiesText([histogram.family()]), await library.metrics());
});
