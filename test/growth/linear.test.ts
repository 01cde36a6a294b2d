import assert from "node:assert/strict";
import { test } from "node:test";
import { ngsiVersions } from "../../core/ngsi/index.js";
import { Lookups } from "../../core/pipeline/lookups.js";
import { CumulativeRelease } from "../../core/sdk/channel/cumulative-release.js";
import { WaitingPuts } from "../../core/sdk/channel/room.js";
import { reasonOf } from "../../core/sdk/index.js";
import { growthFault } from "./growth.js";
import { shapes } from "./shapes.js";
import { eventsOf, steps } from "./steps.js";

/** About the bytes of the smallest input; the largest has eight times as many. */
const UNIT = 40_000;

for (const [much, shapeOf] of Object.entries(shapes))
  test(`much more of ${much} takes no more time than its length says`, async () => {
    const faults: Record<string, string | undefined> = {};
    const events = once((size) => eventsOf("auto", shapeOf(size)));
    for (const version of ngsiVersions)
      faults[`handler, ${version}`] = await growthFault(shapeOf, (sent) => void eventsOf(version, sent), UNIT);
    for (const [step, run] of Object.entries(steps)) faults[step] = await growthFault(events, run, UNIT);

    assert.deepEqual(
      Object.entries(faults).filter(([, fault]) => fault !== undefined),
      [],
    );
  });

test("much more puts that wait for room take no more time than their number says, let in or refused", async () => {
  const puts = (count: number) => Array.from({ length: count }, (_, at) => at);
  const run = (items: readonly number[]) => {
    const [admitted, refused] = [new WaitingPuts<number>(60_000), new WaitingPuts<number>(60_000)];
    for (const waiting of [admitted, refused]) for (const item of items) void waiting.wait(item);
    for (let put = admitted.first; put !== undefined; put = admitted.first) put.settle(true);
    refused.refuseAll();
  };

  assert.equal(await growthFault(puts, run, UNIT), undefined);
});

test("much more events of a log that are released one by one take no more time than their number says", async () => {
  const sequences = (count: number) => Array.from({ length: count }, (_, at) => at);
  const run = (all: readonly number[]) => {
    const log = new CumulativeRelease();
    log.take(all);
    for (const sequence of all) log.release([sequence]);
    assert.equal(log.upTo, all.at(-1));
  };

  assert.equal(await growthFault(sequences, run, UNIT), undefined);
});

test("much more lookups of an interceptor that wait for their turn take no more time than their number says", async () => {
  const calls = (count: number) => Array.from({ length: count }, (_, at) => at);
  const run = async (all: readonly number[]) => {
    const lookups = new Lookups({ concurrency: 1, timeLimit: 600_000 }, new AbortController().signal);
    await Promise.all(all.map((made) => lookups.run(() => ({ made, abort: () => undefined }))));
  };

  assert.equal(await growthFault(calls, run, UNIT), undefined);
});

const messages: Readonly<Record<string, (size: number) => string>> = {
  blanks: (size) => `a${" ".repeat(size)}b\nc`,
  "line breaks": (size) => `a${"\n".repeat(size)}b`,
  lines: (size) => "a \n".repeat(size / 4),
};
for (const [much, messageOf] of Object.entries(messages))
  test(`much more of ${much} in the message of an error takes no more time than its length says`, async () => {
    assert.equal(
      await growthFault(
        (size) => new Error(messageOf(size)),
        (error) => void reasonOf(error),
        UNIT,
      ),
      undefined,
    );
  });

/** Makes the input of a size once: a step does not change what it gets. */
function once<Input>(make: (size: number) => Input): (size: number) => Input {
  const made = new Map<number, Input>();
  return (size) => {
    const input = made.get(size) ?? make(size);
    made.set(size, input);
    return input;
  };
}
