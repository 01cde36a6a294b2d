import assert from "node:assert/strict";
import { test } from "node:test";
import { runningManagement as serve } from "../support/running-management.js";

test("GET /v1/version answers version and revision", async (context) => {
  const { call } = await serve(context);

  const { status, headers, body } = await call("GET", "/v1/version");

  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "application/json; charset=utf-8");
  assert.deepEqual(body, { success: "true", version: "1.2.3.abc" });
});

test("GET /v1/stats shows what moved through each component, PUT /v1/stats sets it to zero", async (context) => {
  const { agent, call } = await serve(context);
  const [source] = agent.assembly.sources;
  assert.ok(source);
  await source.processor.emit([
    { headers: {}, body: 1 },
    { headers: {}, body: 2 },
  ]);
  await agent.assembly.sinks[0]?.feed.drain(AbortSignal.timeout(120_000));

  const before = await call("GET", "/v1/stats");
  const reset = await call("PUT", "/v1/stats");
  const after = await call("GET", "/v1/stats");

  const { sources, channels, sinks } = before.body.stats;
  const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
  for (const { setup_time, status } of [...sources, ...channels, ...sinks]) {
    assert.match(setup_time, iso);
    assert.equal(status, "START");
  }
  const { setup_time: _s, ...sourceCounts } = sources[0];
  const sourceNumbers = { num_received_events: 1, num_processed_events: 1, num_refused_events: 0 };
  assert.deepEqual(sourceCounts, { name: "s1", status: "START", ...sourceNumbers });
  const { setup_time: _c, ...channelCounts } = channels[0];
  const puts = { num_puts_ok: 2, num_puts_failed: 0, num_takes_ok: 2, num_takes_failed: 0 };
  const fill = { num_events: 0, capacity: 10, bytes: 0 };
  assert.deepEqual(channelCounts, { name: "c1", status: "START", ...fill, ...puts });
  const { setup_time: _k, ...sinkCounts } = sinks[0];
  assert.deepEqual(sinkCounts, { name: "k1", status: "START", num_processed_events: 2, num_persisted_events: 2 });
  assert.deepEqual(reset.body, { success: "true" });
  assert.equal(after.body.stats.sinks[0].num_persisted_events, 0);
  assert.equal(after.body.stats.channels[0].num_puts_ok, 0);
  assert.equal(after.body.stats.sources[0].num_received_events, 0);
  assert.equal(after.body.stats.sources[0].setup_time, sources[0].setup_time);
});

const unknown = [
  ["GET", "/v1/nothing"],
  ["DELETE", "/v1/version"],
  ["PATCH", "/v1/stats"],
  ["OPTIONS", "/v1/stats"],
  ["OPTIONS", "/v1/subscriptions"],
  ["OPTIONS", "/v1/namemappings"],
  ["PUT", "/v1/subscriptions"],
  ["POST", "/v1/admin/metrics"],
  ["PUT", "/admin/metrics"],
  ["GET", "/v1/subscriptionsX"],
  ["GET", "/V1/version"],
] as const;

for (const [method, path] of unknown)
  test(`${method} ${path} is answered 404 in the envelope`, async (context) => {
    const { call } = await serve(context);

    const { status, body } = await call(method, path);

    assert.equal(status, 404);
    assert.deepEqual(body, { success: "false", error: `${method} ${path} not found` });
  });

test("HEAD is answered 404, for known paths too", async (context) => {
  const { call } = await serve(context);

  const { status, text } = await call("HEAD", "/v1/version");

  assert.deepEqual({ status, text }, { status: 404, text: "" });
});

test("a slash at the end of a path makes no difference", async (context) => {
  const { call } = await serve(context);

  const { status } = await call("GET", "/v1/version/");

  assert.equal(status, 200);
});

test("a path that cannot be decoded is the client's fault and shows no stack", async (context) => {
  const { call } = await serve(context);

  const { status, body } = await call("GET", "/v1/%E0%A4%A");

  assert.ok(status === 400 || status === 404);
  assert.equal(body.success, "false");
  assert.ok(!JSON.stringify(body).includes("node_modules"));
});

test("every answer carries the correlator of its request", async (context) => {
  const { call } = await serve(context);

  const { headers } = await call("GET", "/v1/version", { headers: { "Fiware-Correlator": "abc" } });

  assert.equal(headers.get("fiware-correlator"), "abc");
});
