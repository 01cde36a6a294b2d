import assert from "node:assert/strict";
import { test } from "node:test";
import { ngsiVersions } from "../../core/ngsi/index.js";
import { CumulativeRelease } from "../../core/sdk/channel/cumulative-release.js";
import { WaitingPuts } from "../../core/sdk/channel/room.js";
import { reasonOf } from "../../core/sdk/index.js";
import { growthFault } from "./growth.js";
import { shapes } from "./shapes.js";
import { eventsOf, steps } from "./steps.js";

/** About the bytes of the smallest input; the largest has eight times as many. */
const UNIT = 40_000;

for (const [much, shapeOf] of Object.entries(shapes))
  test(`much more of ${much} takes no more time than its length says`, () => {
    const faults = [
      ...ngsiVersions.map((version) => ({
        step: `handler, ${version}`,
        fault: growthFault(shapeOf, (sent) => eventsOf(version, sent), UNIT),
      })),
      ...Object.entries(steps).map(([step, run]) => ({
        step,
        fault: growthFault((size) => eventsOf("auto", shapeOf(size)), run, UNIT),
      })),
    ];

    assert.deepEqual(
      faults.filter(({ fault }) => fault !== undefined),
      [],
    );
  });

test("much more puts that wait for room take no more time than their number says, let in or refused", () => {
  const puts = (count: number) => Array.from({ length: count }, (_, at) => at);
  const run = (items: readonly number[]) => {
    const [admitted, refused] = [new WaitingPuts<number>(60_000), new WaitingPuts<number>(60_000)];
    for (const waiting of [admitted, refused]) for (const item of items) void waiting.wait(item);
    for (let put = admitted.first; put !== undefined; put = admitted.first) put.settle(true);
    refused.refuseAll();
  };

  assert.equal(growthFault(puts, run, UNIT), undefined);
});

test("much more events of a log that are released one by one take no more time than their number says", () => {
  const sequences = (count: number) => Array.from({ length: count }, (_, at) => at);
  const run = (all: readonly number[]) => {
    const log = new CumulativeRelease();
    log.take(all);
    for (const sequence of all) log.release([sequence]);
    assert.equal(log.upTo, all.at(-1));
  };

  assert.equal(growthFault(sequences, run, UNIT), undefined);
});

const messages: Readonly<Record<string, (size: number) => string>> = {
  blanks: (size) => `a${" ".repeat(size)}b\nc`,
  "line breaks": (size) => `a${"\n".repeat(size)}b`,
  lines: (size) => "a \n".repeat(size / 4),
};
for (const [much, messageOf] of Object.entries(messages))
  test(`much more of ${much} in the message of an error takes no more time than its length says`, () => {
    assert.equal(
      growthFault((size) => new Error(messageOf(size)), reasonOf, UNIT),
      undefined,
    );
  });
