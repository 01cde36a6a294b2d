import assert from "node:assert/strict";
import { test } from "node:test";
import { faultTexts, more, read } from "../support/configuration.js";

const SOURCE = "a1.sources.http-source";

function quotaOf(...lines: readonly string[]) {
  const reading = read(more(...lines));
  return { faults: faultTexts(reading), quota: reading.topology?.sources[0]?.quota };
}

test("without a line about quotas a source has none", () => {
  assert.deepEqual(quotaOf(), { faults: [], quota: undefined });
  assert.deepEqual(quotaOf(`${SOURCE}.quota.events_per_second = -1`), { faults: [], quota: undefined });
});

test("a quota has a burst of ten seconds, and services may have their own", () => {
  const { faults, quota } = quotaOf(
    `${SOURCE}.quota.events_per_second = 100`,
    `${SOURCE}.quota.services.Big = 1000 2000`,
    `${SOURCE}.quota.services.a.b = 0`,
    `${SOURCE}.quota.services.free = -1`,
  );

  assert.deepEqual(faults, []);
  assert.deepEqual(quota, {
    usual: { eventsPerSecond: 100, burst: 1000 },
    services: {
      big: { eventsPerSecond: 1000, burst: 2000 },
      "a.b": { eventsPerSecond: 0, burst: 1 },
      free: undefined,
    },
    mostServices: 1000,
  });
});

const faulty = [
  {
    line: `${SOURCE}.quota.services.a = many`,
    fault: `${SOURCE}.quota.services.a = "many": must be events per second, and maybe a burst of 1 or more behind it, such as 100 500`,
  },
  { line: `${SOURCE}.quota.services.a = 10 0`, fault: "must be events per second" },
  { line: `${SOURCE}.quota.services.a = -2`, fault: "must be events per second" },
  { line: `${SOURCE}.quota.events_per_second = -2`, fault: "must be" },
  { line: `${SOURCE}.quota.events_per_secnd = 5`, fault: 'did you mean "quota.events_per_second"?' },
  { line: `${SOURCE}.quota.services = 5`, fault: "must be given as quota.services.<name> = <value>" },
] as const;
for (const { line, fault } of faulty)
  test(`${line} is an error`, () => {
    const { faults } = quotaOf(line);

    assert.equal(faults.length, 1);
    assert.ok(faults[0]?.includes(fault), faults[0]);
  });

test("a service in two spellings is an error", () => {
  const { faults } = quotaOf(`${SOURCE}.quota.services.a = 5`, `${SOURCE}.quota.services.A = 6`);

  assert.equal(faults.length, 1);
  assert.match(faults[0] ?? "", /names the service "a" a second time/);
});
