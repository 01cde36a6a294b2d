import assert from "node:assert/strict";
import { test } from "node:test";
import { agentCase, type BenchCase, bareSocketOf } from "./case.js";
import { guardForms, historySheet } from "./history-line.js";
import { optionsOf } from "./options.js";
import { setOf } from "./sets.js";
import { someLoad } from "./some-load.js";

const facts = {
  version: "1.2.3",
  date: "2026-01-15T10:20:30.123Z",
  commit: "0123456789abcdef0123456789abcdef01234567, with changes that are not committed",
  node: "v20.0.0",
  machine: "Linux",
  "load average before": "0.1, 0.2, 0.3",
};

const measured = (subject: BenchCase, perSecond: number, agentMicroseconds: number) => {
  const run = {
    acceptedPerSecond: perSecond,
    storedPerSecond: perSecond,
    agentMicroseconds,
    load: someLoad,
    startMilliseconds: 500,
  };
  return { subject, runs: [run] };
};

const setup = { database: "postgresql", batchSize: 1, entities: 100 } as const;
const cases = guardForms.flatMap((format) => [
  measured(bareSocketOf(format), 20_000, 20),
  measured(agentCase({ ...setup, channel: "memory", format }), 10_000, 40),
  measured(agentCase({ ...setup, channel: "file", format }), 5000, 80),
]);
const nothing = { ceilings: [], growth: [], scale: [] };

test("a release has one line with the ratios of each form to the bare socket, memory and file", () => {
  const sheet = historySheet({ cases, ...nothing }, facts);

  assert.deepEqual(sheet?.rows, [
    [
      ...["1.2.3", "2026-01-15", "0123456, with changes that are not committed", "v20.0.0", "Linux", "0.1, 0.2, 0.3"],
      ...["20,000", "0.5, 0.25", "0.5, 0.25", "0.5, 0.25", "2, 4", "2, 4", "2, 4", "500"],
    ],
  ]);
  assert.equal(sheet?.head.length, sheet?.rows[0]?.length);
});

test("without one of its forms there is no line", () => {
  assert.equal(historySheet({ cases: cases.slice(3), ...nothing }, facts), undefined);
});

test("the set of the guard has what a line needs", () => {
  const { cases: ofSet } = setOf(optionsOf(["--set", "guard"]).sets);

  assert.deepEqual(
    ofSet.map(({ name }) => name),
    cases.map(({ subject }) => subject.name),
  );
});
