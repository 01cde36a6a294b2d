import assert from "node:assert/strict";
import { test } from "node:test";
import { Counter, Gauge, Registry } from "prom-client";
import { familiesText } from "../../core/metrics/exposition.js";
import { Readings } from "../../core/metrics/readings.js";

test("readings are written as prom-client writes its gauges and counters", async () => {
  const library = new Registry();
  const about = { name: "events", help: 'A "\\" help\nof two lines.', labelNames: ["channel", "state"] };
  const gauge = new Gauge({ ...about, registers: [library] });
  const counter = new Counter({ ...about, name: "puts_total", registers: [library] });
  const series = [
    [["c1", "a"], 0],
    [["c1", 'quote " backslash \\ line\nend'], -1.5e300],
    [["", "{}=,é"], 1e21],
  ] as const;
  const readings = new Readings();
  readings.addGauge({ ...about, labels: ["channel", "state"], read: () => series });
  const counts = series.map(([labels, value]) => [labels, Math.abs(value)] as const);
  readings.addCounter({ ...about, name: "puts_total", labels: ["channel", "state"], read: () => counts });

  for (const [[channel, state], value] of series) gauge.set({ channel, state }, value);
  for (const [[channel, state], value] of counts) counter.inc({ channel, state }, value);

  assert.equal(familiesText(readings.families()), await library.metrics());
});

test("what a plugin tells that is no number has no series, and the others have theirs", () => {
  const told = { many: "many", none: Number.NaN, some: 5 };
  const read = () => Object.entries(told).map(([name, value]) => [[name], JSON.parse(JSON.stringify(value))] as const);
  const readings = new Readings();
  readings.addGauge({ name: "events", help: "Events.", labels: ["channel"], read });
  readings.addCounter({ name: "puts_total", help: "Puts.", labels: ["channel"], read });

  const lines = readings.families().flatMap((family) => family.lines);

  assert.deepEqual(lines, ['events{channel="some"} 5', 'puts_total{channel="some"} 5']);
});

test("a reading without labels that has no value has no series", () => {
  const readings = new Readings();
  readings.addGauge({ name: "limit_bytes", help: "Limit.", labels: [], read: () => [[[], undefined]] });

  assert.deepEqual(readings.families()[0]?.lines, []);
});

test("a series that is read twice is written once, with the last value", () => {
  const readings = new Readings();
  const read = () => [[["a"], 1] as const, [["a"], 2] as const];
  readings.addGauge({ name: "events", help: "Events.", labels: ["channel"], read });

  assert.deepEqual(readings.families()[0]?.lines, ['events{channel="a"} 2']);
});
