import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { addCounter, addGauge } from "../../core/metrics/readings.js";

test("what a plugin tells that is no number has no series, and the others have theirs", async () => {
  const all = new Registry();
  const told = { many: "many", none: Number.NaN, some: 5 };
  const read = () => Object.entries(told).map(([name, value]) => [[name], JSON.parse(JSON.stringify(value))] as const);
  addGauge(all, { name: "events", help: "Events.", labels: ["channel"], read });
  addCounter(all, { name: "puts_total", help: "Puts.", labels: ["channel"], read });

  const lines = (await all.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));

  assert.deepEqual(lines, ['events{channel="some"} 5', 'puts_total{channel="some"} 5']);
});
