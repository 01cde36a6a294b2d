import assert from "node:assert/strict";
import { test } from "node:test";
import { agentCase, type BenchCase, bareSocketOf } from "./case.js";
import { formRatios } from "./form-ratios.js";
import type { BodyFormat } from "./forms.js";
import type { Measurement } from "./measure.js";
import { originalCases } from "./original-cases.js";
import { secondTargets } from "./second-targets.js";
import { someLoad } from "./some-load.js";

const measured = (bench: BenchCase, perSecond: number, agentMicroseconds: number, peakMebibytes = 100) => {
  const run: Measurement = {
    acceptedPerSecond: perSecond,
    storedPerSecond: perSecond,
    agentMicroseconds,
    peakMebibytes,
    load: someLoad,
    half: { ...someLoad, p99: 5 },
    startMilliseconds: 400,
  };
  return { subject: bench, runs: [run] };
};

const agent = (format: BodyFormat, channel: "memory" | "file") =>
  agentCase({ database: "postgresql", channel, batchSize: 1, entities: 100, format });

const order = { command: "run", url: "http://127.0.0.1:1/notify" };
const [, original] = originalCases({ packaged: order }, []);

const results = {
  cases: [
    measured(bareSocketOf("ld"), 20_000, 20),
    measured(agent("ld", "memory"), 12_000, 30),
    measured(agent("ld", "file"), 8000, 40, 130),
    measured(bareSocketOf("v2"), 10_000, 25),
    measured(agent("v2", "memory"), 4000, 50),
    measured(bareSocketOf("ld-pretty"), 8000, 25),
    measured(agent("ld-pretty", "memory"), 4000, 40),
    measured(bareSocketOf("ld-several"), 1000, 100),
    measured(agent("ld-several", "memory"), 100, 1000),
    ...(original === undefined ? [] : [measured(original, 1000, 900, 1500)]),
  ],
  ceilings: [],
  growth: [],
  scale: [],
};

const cases = [
  { what: "stored/s to the bare socket, memory channel, compact NGSI-LD", value: 0.6 },
  { what: "stored/s to the bare socket, memory channel, slowest of the other forms (NGSI v2)", value: 0.4 },
  { what: "stored/s to the bare socket, file channel, compact NGSI-LD", value: 0.4 },
  {
    what: "CPU of the agent for an event to the bare socket for a request, memory channel, costliest form (NGSI v2)",
    value: 2,
  },
  { what: "stored/s to the original in the same run, packaged", value: 12 },
  { what: "stored/s to the original in the same run, its best", value: undefined },
  { what: "answer p99 at half of the highest rate, file channel, slowest case", value: 5 },
  { what: "most resident memory at the highest rate, any case", value: 130 },
  { what: "start to first 200, packaged", value: 400 },
] as const;

for (const { what, value } of cases)
  test(`the target of the second round "${what}" is ${value}`, () => {
    const row = secondTargets(results, { packaged: order }).find((one) => one.what === what);

    assert.ok(row !== undefined);
    assert.equal(row.value, value);
  });

test("a form is compared with the bare socket that gets its bodies, and an event with a request", () => {
  const several = formRatios(results).find(({ format }) => format === "ld-several");

  assert.deepEqual(several?.memory, { stored: 0.1, cpu: 2 });
});
