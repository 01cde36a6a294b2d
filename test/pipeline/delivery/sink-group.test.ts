import assert from "node:assert/strict";
import { test } from "node:test";
import { SinkCounters } from "../../../core/pipeline/counters.js";
import type { Settled } from "../../../core/pipeline/delivery/settlements.js";
import { SinkGroup } from "../../../core/pipeline/delivery/sink-group.js";
import { SupervisedSink } from "../../../core/pipeline/delivery/supervised-sink.js";
import { AgentError, codeOf, type Event, retryableOf, type SinkProcessor } from "../../../core/sdk/index.js";
import { batchOf, course } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";

const away = new AgentError("AWAY", "the store is away", { retryable: true });
const bad = new AgentError("BAD", "the value never goes in", { retryable: false });
const events: readonly Event[] = [1, 2].map((body) => ({ headers: {}, body }));
const clock = { now: () => new Date(0) };

function group(...sinks: readonly ScriptedSink[]) {
  const { log, lines } = recordingLog();
  const told: string[] = [];
  const settled: (readonly [string, Settled])[] = [];
  const account = (name: string) => ({ settled: (counts: Settled) => settled.push([name, counts]) });
  const members = sinks.map((plugin, index) => {
    const name = `s${index + 1}`;
    const sink = new SupervisedSink({ name, create: () => plugin, persistTimeout: 0, log: recordingLog().log, clock });
    return { name, sink, counters: new SinkCounters(), account: account(name) };
  });
  const processor: SinkProcessor = {
    order: (names) => names,
    succeeded: (sink) => told.push(`${sink} succeeded`),
    failed: (sink) => told.push(`${sink} failed`),
  };
  const made = new SinkGroup({ name: "g", members, processor, processorType: "mine", log, account: account("g") });
  const counts = () => members.map(({ counters: { processed, persisted } }) => [processed, persisted]);
  return { made, told, settled, counts, lines, members, processor };
}

test("the first sink of the order gets the batch, and no other one", async () => {
  const [first, second] = [new ScriptedSink(), new ScriptedSink()];
  const { made, told, counts } = group(first, second);

  await made.deliver(batchOf(events), course());

  assert.deepEqual([first.stored.length, second.writes.length], [2, 0]);
  assert.deepEqual(told, ["s1 succeeded"]);
  assert.deepEqual(counts(), [
    [2, 2],
    [0, 0],
  ]);
});

for (const error of [away, new Error("nobody knows")])
  test(`a sink that fails with "${error.message}" hands the batch on to the next one`, async () => {
    const [first, second] = [new ScriptedSink(() => error), new ScriptedSink()];
    const { made, told, counts } = group(first, second);

    await made.deliver(batchOf(events), course());

    assert.deepEqual(second.stored, events);
    assert.deepEqual(told, ["s1 failed", "s2 succeeded"]);
    assert.deepEqual(counts(), [
      [2, 0],
      [2, 2],
    ]);
  });

test("a sink that fails is logged once at level warn, and once when it stores again", async () => {
  const { made, lines } = group(new ScriptedSink((_, write) => (write < 3 ? away : undefined)), new ScriptedSink());

  for (const _ of [1, 2, 3, 4]) await made.deliver(batchOf(events), course());

  assert.deepEqual(
    lines.map(({ level, message }) => `${level} ${message}`),
    ["warn sink of the group failed", "debug sink of the group failed", "info sink of the group stores again"],
  );
});

test("data that a sink refuses for good goes to no other sink and is no failure of the sink", async () => {
  const [first, second] = [new ScriptedSink(() => bad), new ScriptedSink()];
  const { made, told } = group(first, second);

  await assert.rejects(made.deliver(batchOf(events), course()), bad);

  assert.deepEqual([second.writes.length, told], [0, []]);
});

test("what a sink stores beside the events it names goes to no other sink, what it names retryably does", async () => {
  const named = new AgentError("BUSY", "one is busy", { retryable: true, events: events.slice(1) });
  const [first, second] = [new ScriptedSink(() => named), new ScriptedSink()];
  const { made, told, counts, settled } = group(first, second);
  const batch = batchOf(events);

  await made.deliver(batch, course());
  made.settled({ stored: 2, "dead-lettered": 0, filtered: 0 }, events);

  assert.deepEqual(second.stored, events.slice(1));
  assert.deepEqual(told, ["s1 failed", "s2 succeeded"]);
  assert.deepEqual(counts(), [
    [2, 1],
    [1, 1],
  ]);
  assert.deepEqual(
    settled.map(([name, { stored }]) => `${name} ${stored}`),
    ["s1 1", "s2 1"],
  );
});

test("what a sink refuses for good is kept before another sink gets the rest", async () => {
  const reasons = new Map(events.map((event, index) => [event, index === 0 ? bad : away]));
  const first = new ScriptedSink(() => new AgentError("NOT_ALL", "both failed", { retryable: true, events: reasons }));
  const second = new ScriptedSink();
  const { made, told } = group(first, second);

  await assert.rejects(made.deliver(batchOf(events), course()), /both failed/);

  assert.deepEqual([second.writes.length, told], [0, []]);
});

test("when all fail the error may pass, names each sink, and retries do not count as processed again", async () => {
  const { made, counts } = group(new ScriptedSink(() => new Error("odd")), new ScriptedSink(() => away));
  const failure = await made.deliver(batchOf(events), course()).catch((error: unknown) => error);
  await assert.rejects(made.deliver(batchOf(events), course()));

  assert.equal(codeOf(failure), "GROUP_FAILED");
  assert.equal(retryableOf(failure), true);
  assert.match(String(failure), /sink "s1": odd; sink "s2": the store is away/);
  assert.deepEqual(counts(), [
    [2, 0],
    [2, 0],
  ]);
});

test("when no sink says what its error means, the group does not say it either", async () => {
  const { made } = group(new ScriptedSink(() => new Error("odd")));

  const failure = await made.deliver(batchOf(events), course()).catch((error: unknown) => error);

  assert.equal(retryableOf(failure), undefined);
});

test("what left the channel is in the books of the sinks that stored it, the rest in those of the group", async () => {
  const { made, settled } = group(new ScriptedSink((_, write) => (write === 2 ? away : undefined)), new ScriptedSink());
  const letter: Event = { headers: {}, body: 3 };
  for (const event of events) await made.deliver(batchOf([event]), course());

  made.settled({ stored: 2, "dead-lettered": 1, filtered: 0 }, [...events, letter]);

  assert.deepEqual(settled, [
    ["s1", { stored: 1, "dead-lettered": 0, filtered: 0 }],
    ["s2", { stored: 1, "dead-lettered": 0, filtered: 0 }],
    ["g", { stored: 0, "dead-lettered": 1, filtered: 0 }],
  ]);
});

test("a dead letter of the group counts for the sink that tried it last", async () => {
  const [first, second] = [new ScriptedSink(() => away), new ScriptedSink(() => bad)];
  const { made, members } = group(first, second);
  await made.deliver(batchOf(events), course()).catch(() => undefined);

  made.settled({ stored: 0, "dead-lettered": 2, filtered: 0 }, events);

  assert.deepEqual(
    members.map(({ counters }) => counters.deadLettered),
    [0, 2],
  );
});

test("a sink processor that throws after a write is logged, and the batch counts as stored once", async () => {
  const sink = new ScriptedSink();
  const { made, lines, processor } = group(sink);
  processor.succeeded = () => {
    throw new Error("no such sink");
  };

  await made.deliver(batchOf(events), course());

  assert.equal(sink.writes.length, 1);
  const [line] = lines.filter(({ level }) => level === "error");
  assert.deepEqual(line?.fields, { sink: "s1", outcome: "succeeded", reason: "no such sink" });
});

test("a sink processor that cannot order the sinks is named, and its batch is retried", async () => {
  const { made, processor } = group(new ScriptedSink());
  processor.order = () => {
    throw new TypeError("no list");
  };

  await assert.rejects(made.deliver(batchOf(events), course()), (error: Error) => {
    assert.deepEqual([codeOf(error), retryableOf(error)], ["GROUP_FAILED", true]);
    assert.equal(error.message, 'ordering the sinks of group "g" by its sink processor of type "mine"');
    return true;
  });
});

const wrongOrders = [
  { order: ["s2", "s2", "s1"], fault: "named a sink twice; it is tried once", tried: ["s2", "s1"] },
  { order: ["s9", "s1", "s2"], fault: "named a sink that is not in the group; it is left out", tried: ["s1", "s2"] },
  { order: [undefined, "s2"], fault: "named a sink that is not in the group; it is left out", tried: ["s2"] },
  {
    order: "s2",
    fault: "returned no list of sinks; they are tried in the order of the configuration",
    tried: ["s1", "s2"],
  },
];
for (const { order, fault, tried } of wrongOrders)
  test(`a sink processor that ordered ${JSON.stringify(order)} is logged once, and each sink is tried once`, async () => {
    const { made, told, lines, processor } = group(new ScriptedSink(() => away), new ScriptedSink(() => away));
    Reflect.set(processor, "order", () => order);

    for (const _ of [1, 2]) await assert.rejects(made.deliver(batchOf(events), course()));

    assert.deepEqual(
      told,
      [...tried, ...tried].map((name) => `${name} failed`),
    );
    assert.deepEqual(
      lines.filter(({ level }) => level === "error").map(({ fields }) => fields),
      [{ group: "g", processor: "mine", fault }],
    );
  });
