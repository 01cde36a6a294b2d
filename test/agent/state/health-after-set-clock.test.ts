import assert from "node:assert/strict";
import { test } from "node:test";
import { PROMETHEUS, READINESS, STATISTICS } from "../../../core/agent/container.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { until } from "../../support/until.js";
import { away, started } from "./scripted-agent.js";

const HOUR = 3600;

test("a store that is away makes the agent not ready also when the clock is set back meanwhile", async (context) => {
  const { agent, clock, put, reasons } = await started(context, { create: () => new ScriptedSink(() => away()) });
  await put(1);
  const failing = async () => agent.assembly.sinks[0]?.sink.health.failure;
  await until(failing, (failure) => failure !== undefined);
  clock.pass(10);
  const before = reasons();

  clock.pass(-HOUR);

  assert.deepEqual([before, reasons()], [["k1: no server"], ["k1: no server"]]);
});

test("a sink that hangs is reported also when the clock is set back meanwhile", async (context) => {
  const create = () => {
    const sink = new ScriptedSink();
    return { start: async () => {}, stop: async () => {}, persist: () => new Promise<never>(() => {}), sink };
  };
  const { agent, clock, put, reasons } = await started(context, { create });
  await put(1);
  const busy = async () => agent.assembly.sinks[0]?.sink.busySince;
  await until(busy, (since) => since !== undefined);

  clock.pass(-HOUR);

  assert.match(reasons().join(), /k1: the store has not answered for 3600 seconds/);
});

test("what is over is not reported for as long as the clock was set back", async (context) => {
  const { clock, put, emptied, reasons, warnings } = await started(context, {
    create: () => new ScriptedSink(() => away()),
    batchTtl: 0,
  });
  await put(1);
  await emptied();
  clock.pass(30);

  clock.pass(-HOUR);

  assert.deepEqual([reasons(), warnings()], [[], []]);
});

test("a sink that stores is ready, and stored 0 seconds ago, when the clock was set back", async (context) => {
  const { container, clock, put, emptied } = await started(context, { create: () => new ScriptedSink() });
  await put(1);
  await emptied();

  clock.pass(-HOUR);
  const text = await container.resolve(PROMETHEUS).text();

  assert.match(text, /^deneb_sink_seconds_since_last_write\{sink="k1"\} 0$/m);
  assert.deepEqual(container.resolve(READINESS).obstacles(), []);
});

test("what waits does not become younger when the clock is set back", async (context) => {
  const { container, clock, put } = await started(context, { create: () => new ScriptedSink(() => away()) });
  const age = () => container.resolve(STATISTICS).snapshot().channels[0]?.oldest_event_seconds;
  await put(1);
  clock.pass(5);
  const before = age();
  clock.pass(-HOUR);
  const after = age();
  clock.pass(2);

  assert.deepEqual([before, after, age()], [5, 5, 7]);
});
