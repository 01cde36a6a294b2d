import assert from "node:assert/strict";
import { test } from "node:test";
import { PROMETHEUS, STATISTICS } from "../../../core/agent/container.js";
import { FailureState } from "../../../core/pipeline/failure-state.js";
import { AgentError, type Context, positionFaults, type Sink } from "../../../core/sdk/index.js";
import { latch } from "../../support/latch.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { settableClock } from "../../support/settable-clock.js";
import { until } from "../../support/until.js";
import { away, started } from "./scripted-agent.js";

test("a store that is away makes the agent not ready after ten seconds, with reason and time, until it is back", async (context) => {
  let isAway = true;
  const sink = new ScriptedSink(() => (isAway ? away() : undefined));
  const { agent, clock, readiness, put, emptied } = await started(context, { create: () => sink });
  const idle = readiness.obstacles();
  const since = clock.now().toISOString();
  await put(1);
  const failing = async () => agent.assembly.sinks[0]?.sink.health.failure;
  await until(failing, (failure) => failure !== undefined);

  clock.pass(9);
  const soon = readiness.obstacles();
  clock.pass(1);
  const later = readiness.obstacles();
  isAway = false;
  await emptied();
  const well = readiness.obstacles();

  assert.deepEqual([idle, soon, well], [[], [], []]);
  assert.deepEqual(later, [{ component: "k1", reason: "no server", since }]);
});

test("a stored position that another copy of the channel made makes the agent not ready at once, until it is decided", async (context) => {
  let isForeign = true;
  const foreign = () => new AgentError(positionFaults.foreign, "made by another copy", { retryable: true });
  const sink = new ScriptedSink(() => (isForeign ? foreign() : undefined));
  const { agent, reasons, put, emptied } = await started(context, { create: () => sink });
  await put(1);
  const failing = async () => agent.assembly.sinks[0]?.sink.health.failure;
  await until(failing, (failure) => failure !== undefined);

  const atOnce = reasons();
  isForeign = false;
  await emptied();

  assert.deepEqual([atOnce, reasons()], [["k1: made by another copy"], []]);
});

test("a store that is away and that nothing is tried on is a warning after a minute and forgotten after ten", async (context) => {
  const sink = new ScriptedSink(() => away());
  const setting = { create: () => sink, batchTtl: 0 };
  const { clock, put, emptied, reasons, warnings } = await started(context, setting);
  await put(1);
  await emptied();

  clock.pass(30);
  const red = reasons();
  clock.pass(31);
  const shown = [reasons(), warnings()];
  clock.pass(600);

  assert.deepEqual(red, ["k1: no server"]);
  assert.deepEqual(shown[0], []);
  assert.equal(shown[1]?.length, 2);
  assert.deepEqual([reasons(), warnings()], [[], []]);
});

test("dead letters among stored events are a warning, and a stream of them makes the agent not ready", async (context) => {
  const bad = () => new AgentError("BAD", "storing", { retryable: false });
  const sink = new ScriptedSink((events) => (events.some(({ body }) => body === "bad") ? bad() : undefined));
  const { clock, put, emptied, reasons, warnings } = await started(context, { create: () => sink });
  for (const body of ["good", "good", "bad"]) {
    await put(body);
    await emptied();
  }
  const few = [reasons(), warnings()];
  const bads = async (count: number) => {
    for (let left = count; left > 0; left -= 1) {
      await put("bad");
      await emptied();
    }
  };
  await bads(8);
  const nine = [reasons(), warnings()];
  await bads(1);
  const many = reasons();
  clock.pass(61);
  const over = [reasons(), warnings()];

  const warning = `k1: events became dead letters, the last one at ${settableClock().now().toISOString()}`;
  assert.deepEqual(
    [few, nine],
    [
      [[], [warning]],
      [[], [warning]],
    ],
  );
  assert.deepEqual(many, ["k1: in the last 60 seconds 10 events became dead letters and 2 were stored"]);
  assert.deepEqual(over, [[], [warning]]);
});

test("dead letters that are full make the sink the obstacle, with that reason", async (context) => {
  const sink = new ScriptedSink(() => new AgentError("BAD", "storing", { retryable: false }));
  const { agent, clock, put, reasons } = await started(context, { create: () => sink, deadLetterBytes: 1 });
  await put(1);
  const keeping = async () => agent.assembly.sinks[0]?.keeping.failure;
  await until(keeping, (failure) => failure !== undefined);

  clock.pass(10);

  assert.match(reasons().join(), /^k1: dead letters full: 0 bytes of 1, and \d+ more are needed; replay or drop some/);
});

test("a channel that refuses puts makes the agent not ready after ten seconds, for a minute, and until it takes one", async (context) => {
  let isAway = true;
  const sink = new ScriptedSink(() => (isAway ? away() : undefined));
  const { clock, put, emptied, reasons, warnings } = await started(context, { create: () => sink, capacity: 1 });
  await put(1);
  await assert.rejects(put(2), { code: "CHANNEL_FULL" });
  clock.pass(11);
  const red = reasons();
  clock.pass(50);
  const shown = [reasons(), warnings()];
  isAway = false;
  await emptied();
  await put(3);
  await emptied();

  assert.match(red.join(), /c1: puts are refused: .*full/);
  assert.doesNotMatch(shown[0]?.join() ?? "", /puts are refused/);
  assert.match(shown[1]?.join() ?? "", /c1: puts are refused/);
  assert.deepEqual([reasons(), warnings()], [[], []]);
});

test("a channel that events go without is a warning after ten seconds, for ten minutes after the last one", async (context) => {
  const { agent, clock, reasons, warnings } = await started(context, { create: () => new ScriptedSink() });
  const optional = agent.assembly.channels[0]?.channel.optionalPuts;
  optional?.failed(new AgentError("CHANNEL_FULL", "it is full", { retryable: true }));
  const soon = warnings();

  clock.pass(11);
  const later = warnings();
  clock.pass(590);
  const over = warnings();

  assert.deepEqual([soon, later, over, reasons()], [[], ["c1: events go without it: it is full"], [], []]);
});

test("a call that the store does not answer makes the agent not ready before a minute is over", async (context) => {
  const { opened: hanging, open: end } = latch();
  const sink = { ...new ScriptedSink(), start: async () => {}, stop: async () => {} };
  const create = (): Sink => ({
    ...sink,
    persist: async () => {
      await hanging;
      return { requestBytes: 0, responseBytes: 0 };
    },
  });
  const { agent, clock, put, emptied, reasons } = await started(context, { create });
  await put(1);
  await until(
    async () => agent.assembly.sinks[0]?.sink.busySince,
    (since) => since !== undefined,
  );
  clock.pass(44);
  const within = reasons();
  clock.pass(1);
  const beyond = reasons();
  end();
  await emptied();

  assert.deepEqual([within, beyond, reasons()], [[], ["k1: the store has not answered for 45 seconds"], []]);
});

test("a plugin reports its health and makes metrics, bounded and 0 before the first event", async (context) => {
  let own: Context | undefined;
  const create = (given: Context) => {
    own = given;
    return new ScriptedSink();
  };
  const { container, clock, reasons, warnings } = await started(context, { create });
  const rows = own?.metrics?.counter("rows_total", "Rows.");
  own?.metrics?.gauge("open_files", "Files.", ["kind"]).set(3, { kind: "log" });
  const parts = own?.metrics?.counter("parts_total", "Parts.", ["part"]);
  for (let part = 0; part < 150; part += 1) parts?.add(1, { part: String(part) });
  const before = await container.resolve(PROMETHEUS).text();
  rows?.add(5);
  const after = await container.resolve(PROMETHEUS).text();
  own?.report?.({ state: "down", reason: "certificate expired" });
  clock.pass(10);
  const down = [
    reasons(),
    container
      .resolve(STATISTICS)
      .snapshot()
      .health.find(({ kind }) => kind === "sink")?.state,
  ];
  const health = await container.resolve(PROMETHEUS).text();
  own?.report?.({ state: "degraded" });
  clock.pass(10);
  const degraded = [reasons(), warnings()];
  own?.report?.({ state: "up" });

  assert.match(before, /^deneb_plugin_rows_total\{component="k1"\} 0$/m);
  assert.match(before, /^deneb_plugin_open_files\{component="k1",kind="log"\} 3$/m);
  assert.equal(before.match(/^deneb_plugin_parts_total\{/gm)?.length, 101);
  assert.match(before, /^deneb_plugin_parts_total\{component="k1",part="\(other\)"\} 50$/m);
  assert.match(after, /^deneb_plugin_rows_total\{component="k1"\} 5$/m);
  assert.deepEqual(down, [["k1: k1: certificate expired"], "down"]);
  assert.match(health, /^deneb_component_health\{kind="sink",name="k1",state="down"\} 1$/m);
  assert.deepEqual(degraded, [[], ["k1: k1: it reports that it is degraded"]]);
  assert.deepEqual([reasons(), warnings()], [[], []]);
  assert.throws(() => own?.metrics?.counter("Rows", "Rows."), { code: "METRIC_UNUSABLE" });
});

test("what a component reports as lasting counts at once", async (context) => {
  let own: Context | undefined;
  const create = (given: Context) => {
    own = given;
    return new ScriptedSink();
  };
  const { reasons } = await started(context, { create });

  own?.report?.({ state: "down", reason: "it may pass" });
  const passing = reasons();
  own?.report?.({ state: "down", reason: "the log loses events", lasting: true });

  assert.deepEqual([passing, reasons()], [[], ["k1: k1: the log loses events"]]);
});

test("statistics and metrics have capacity, bytes and the age of the oldest waiting event of a channel", async (context) => {
  let isAway = true;
  const sink = new ScriptedSink(() => (isAway ? away() : undefined));
  const { container, clock, put, emptied } = await started(context, { create: () => sink });
  const first = container.resolve(STATISTICS).snapshot().channels[0];
  await put(1);
  clock.pass(5);
  await put(2);
  clock.pass(2);
  const waiting = container.resolve(STATISTICS).snapshot().channels[0];
  const text = await container.resolve(PROMETHEUS).text();
  isAway = false;
  await emptied();
  const empty = container.resolve(STATISTICS).snapshot().channels[0];

  assert.deepEqual([first?.capacity, first?.bytes, first?.oldest_event_seconds], [10, 0, undefined]);
  assert.deepEqual([waiting?.oldest_event_seconds, waiting?.oldest_event_exact], [7, true]);
  assert.ok((waiting?.bytes ?? 0) > 0);
  assert.match(text, /^deneb_channel_oldest_event_seconds\{channel="c1"\} 7$/m);
  assert.match(text, /^deneb_channel_bytes\{channel="c1"\} \d+$/m);
  assert.equal(empty?.oldest_event_seconds, undefined);
});

test("events that are held back are a warning while the sink is asked of them, and none once another agent has them", async (context) => {
  const { agent, clock, reasons, warnings } = await started(context, { create: () => new ScriptedSink() });
  const [sink] = agent.assembly.sinks;
  const holding = new FailureState(clock);
  Object.assign(sink ?? assert.fail(), { holding });
  const seen: unknown[] = [];

  holding.failed(away());
  for (const seconds of [60, 60, 121]) {
    clock.pass(seconds);
    seen.push(warnings());
    if (seen.length < 2) holding.failed(away());
  }

  const held = ["k1: events are held back, others go on: no server"];
  assert.deepEqual([seen, reasons()], [[held, held, []], []]);
});
