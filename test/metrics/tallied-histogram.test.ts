import assert from "node:assert/strict";
import { test } from "node:test";
import { Histogram, Registry } from "prom-client";
import { TalliedHistogram } from "../../core/metrics/tallied-histogram.js";

const about = { name: "delay_seconds", help: "A delay.", labelNames: ["sink"] as const, buckets: [0.01, 0.5, 10] };

test("a scrape shows what the histogram of the library would show", async () => {
  const [own, other] = [new Registry(), new Registry()];
  const tallied = new TalliedHistogram({ ...about, registers: [own] });
  const usual = new Histogram({ ...about, registers: [other] });
  const before = [await own.metrics(), await other.metrics()];

  for (const sink of ["a", "b"]) {
    const tally = tallied.tally({ sink });
    for (const value of [0, 0.01, 0.011, 0.5, 3, 10, 10.5, 1000]) {
      tally.observe(value);
      usual.observe({ sink }, value);
    }
  }

  assert.equal(before[0], before[1]);
  assert.equal(await own.metrics(), await other.metrics());
  assert.deepEqual((await tallied.get()).values.length, (await usual.get()).values.length);
});
