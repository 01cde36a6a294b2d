import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentError } from "../../core/sdk/index.js";
import { runningManagement } from "../support/running-management.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { settableClock } from "../support/settable-clock.js";
import { until } from "../support/until.js";

const away = () => new AgentError("AWAY", "storing to the store that is away", { retryable: true });
const headers = { "fiware-service": "openiot", timestamp: "1768472430000" };

test("GET /live and GET /ready are green while everything runs", async (context) => {
  const { call } = await runningManagement(context);

  const live = await call("GET", "/live");
  const ready = await call("GET", "/ready");

  assert.deepEqual([live.status, live.body], [200, { status: "live" }]);
  assert.deepEqual([ready.status, ready.body], [200, { status: "ready" }]);
});

test("GET /ready is red and names the sink that does not progress while its channel holds events", async (context) => {
  const clock = settableClock();
  const { agent, call } = await runningManagement(context, { clock });
  clock.pass(3600);
  await agent.assembly.sinks[0]?.feed.halt(AbortSignal.timeout(120_000));
  await agent.assembly.sources[0]?.processor.emit([{ headers, body: 1 }]);
  const since = clock.now().toISOString();

  clock.pass(60);
  const within = await call("GET", "/ready");
  clock.pass(1);
  const beyond = await call("GET", "/ready");

  assert.equal(within.status, 200);
  assert.equal(beyond.status, 503);
  const reason = 'channel "c1" holds 1 event and the sink has not progressed for 61 seconds';
  assert.deepEqual(beyond.body, { status: "not ready", obstacles: [{ component: "k1", reason, since }] });
});

test("GET /ready is red with reason and time while the store of a sink is away, and green when it is back", async (context) => {
  const clock = settableClock();
  let broken = true;
  const sink = new ScriptedSink(() => (broken ? away() : undefined));
  const { agent, call } = await runningManagement(context, { sink, clock, batchTtl: -1 });
  await agent.assembly.sources[0]?.processor.emit([{ headers, body: 1 }]);
  await until(
    async () => sink.writes.length,
    (writes) => writes > 1,
  );
  const since = clock.now().toISOString();
  const early = await call("GET", "/ready");
  clock.pass(10);
  const late = await call("GET", "/ready");
  const live = await call("GET", "/live");
  broken = false;
  await agent.assembly.sinks[0]?.feed.drain(AbortSignal.timeout(120_000));
  const after = await call("GET", "/ready");

  assert.deepEqual([early.status, late.status, live.status, after.status], [200, 503, 200, 200]);
  const reason = "storing to the store that is away";
  assert.deepEqual(late.body.obstacles, [{ component: "k1", reason, since }]);
});

test("GET /ready is red while a source answers 5xx to everything for a while, and green when it accepts again", async (context) => {
  const clock = settableClock();
  const { agent, call } = await runningManagement(context, { clock });
  const source = agent.assembly.sources[0];
  source?.receiver.refused({ status: 503, cause: "busy", reason: "busy" });
  clock.pass(10);
  const one = await call("GET", "/ready");
  source?.receiver.refused({ status: 503, cause: "busy", reason: "busy" });
  const several = await call("GET", "/ready");
  clock.pass(61);
  const past = await call("GET", "/ready");

  assert.deepEqual([one.status, several.status, past.status], [200, 503, 200]);
  assert.match(several.body.obstacles[0].reason, /^requests are answered 503 \(busy\)$/);
  assert.match(past.body.warnings[0].reason, /^requests are answered 503 \(busy\) \(last at /);
});

test("GET /ready is red when a component is stopped, GET /live is not", async (context) => {
  const { agent, call } = await runningManagement(context);
  await agent.stop(1000);

  const ready = await call("GET", "/ready");
  const live = await call("GET", "/live");

  assert.equal(ready.status, 503);
  assert.deepEqual(
    ready.body.obstacles.map(({ component }: { component: string }) => component),
    ["s1", "c1", "k1"],
  );
  assert.equal(live.status, 200);
});

test("GET /metrics tells transactions, components and the process in the text format", async (context) => {
  const { agent, metrics, call } = await runningManagement(context);
  await agent.assembly.sources[0]?.processor.emit([{ headers, body: 1 }]);
  await agent.assembly.sinks[0]?.feed.drain(AbortSignal.timeout(120_000));

  const { status, headers: answered, text } = await call("GET", "/metrics");
  metrics.reset();
  const again = await call("GET", "/metrics");

  assert.equal(status, 200);
  assert.match(answered.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
  for (const line of [
    'deneb_info{version="1.2.3.abc"} 1',
    'deneb_component_started{kind="sink",name="k1"} 1',
    'deneb_channel_events{channel="c1"} 0',
    'deneb_channel_capacity_events{channel="c1"} 10',
    'deneb_channel_puts_total{channel="c1",result="ok"} 1',
    'deneb_sink_writes_total{sink="k1",service="openiot",result="stored"} 1',
    'deneb_sink_batch_events_count{sink="k1"} 1',
    'deneb_sink_delay_seconds_count{sink="k1"} 1',
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
    assert.ok(again.text.includes(`${line}\n`), line);
  }
  assert.match(text, /^nodejs_eventloop_lag_seconds /m);
  assert.match(text, /^process_cpu_seconds_total /m);
  assert.match(text, /^deneb_sink_seconds_since_last_write\{sink="k1"\} /m);
});

test("GET /metrics counts refusals by source, status and cause, with zeros before the first, also after a reset", async (context) => {
  const { agent, call } = await runningManagement(context);
  const source = agent.assembly.sources[0];

  const before = await call("GET", "/metrics");
  source?.receiver.refused({ status: 401, cause: "token", reason: "no token" });
  source?.receiver.refused({ status: 503, cause: "channel-full", reason: "full" });
  source?.receiver.refused({ status: 503, cause: "channel-full", reason: "full" });
  const stats = await call("GET", "/v1/stats");
  await call("PUT", "/v1/stats");
  const reset = await call("GET", "/v1/stats");
  const after = await call("GET", "/metrics");

  const refusals = (text: string) => text.match(/^deneb_source_refused_total\{.*$/gm);
  const line = (status: number, cause: string, count: number) =>
    `deneb_source_refused_total{source="s1",status="${status}",cause="${cause}"} ${count}`;
  const zeros = [
    line(413, "notification-too-large", 0),
    line(429, "channel-share-full", 0),
    line(429, "quota", 0),
    line(500, "internal-error", 0),
    line(500, "handler-failed", 0),
  ];
  assert.deepEqual(refusals(before.text), [...zeros, line(503, "channel-full", 0)]);
  assert.deepEqual(refusals(after.text), [...zeros, line(503, "channel-full", 2), line(401, "token", 1)]);
  assert.equal(stats.body.stats.sources[0].num_refused_events, 3);
  assert.equal(reset.body.stats.sources[0].num_refused_events, 0);
});

test("GET /metrics counts causes beyond the most together", async (context) => {
  const { agent, call } = await runningManagement(context);

  for (let n = 0; n < 300; n++)
    agent.assembly.sources[0]?.receiver.refused({ status: 400, cause: `c-${n}`, reason: "no" });

  const { text } = await call("GET", "/metrics");
  const lines = text.match(/^deneb_source_refused_total\{.*$/gm) ?? [];
  const sum = lines.reduce((total, line) => total + Number(line.split(" ").at(-1)), 0);
  assert.ok(lines.length <= 101, `${lines.length} lines`);
  assert.equal(sum, 300);
});

test("GET /metrics counts services beyond the most together", async (context) => {
  const { agent, call } = await runningManagement(context, { metricsServices: 2 });
  const emit = agent.assembly.sources[0]?.processor.emit;
  for (const service of ["a", "b", "c", "d"])
    await emit?.([{ headers: { ...headers, "fiware-service": service }, body: 1 }]);
  await agent.assembly.sinks[0]?.feed.drain(AbortSignal.timeout(120_000));

  const { text } = await call("GET", "/metrics");

  const services = [...text.matchAll(/^deneb_sink_writes_total\{.*service="([^"]*)".*\} (\d+)$/gm)];
  assert.deepEqual(
    services.map(([, service, count]) => `${service} ${count}`),
    [" 0", " 0", "a 1", "a 0", "b 1", "b 0", "(other) 2", "(other) 0"],
  );
});
