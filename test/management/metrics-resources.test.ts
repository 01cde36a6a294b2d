import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentError } from "../../core/sdk/index.js";
import { runningManagement } from "../support/running-management.js";
import { ScriptedSink } from "../support/scripted-sink.js";

const transaction = { service: "a", servicePath: "/x", requestBytes: 10, responseBytes: 0, failed: false };
const empty = '{"services":{},"sum":{"subservs":{},';

for (const path of ["/v1/admin/metrics", "/admin/metrics"]) {
  test(`GET ${path} answers the tree without an envelope, ?reset=true only once`, async (context) => {
    const { call, metrics } = await runningManagement(context);
    metrics.received("s1", transaction);

    const plain = await call("GET", path);
    const resetting = await call("GET", `${path}?reset=true`);
    const after = await call("GET", `${path}?reset=false`);

    assert.equal(plain.status, 200);
    assert.equal(plain.headers.get("content-type"), "application/json; charset=utf-8");
    assert.deepEqual(Object.keys(plain.body), ["services", "sum"]);
    assert.equal(plain.body.services.a.subservs.x.incomingTransactions, 1);
    assert.equal(resetting.text, plain.text);
    assert.ok(after.text.startsWith(empty));
  });

  test(`DELETE ${path} sets the metrics to zero`, async (context) => {
    const { call, metrics } = await runningManagement(context);
    metrics.received("s1", transaction);

    const deleted = await call("DELETE", path);
    const after = await call("GET", path);

    assert.deepEqual([deleted.status, deleted.body], [200, { success: "true" }]);
    assert.ok(after.text.startsWith(empty));
  });

  for (const query of ["?reset=maybe", "?reset=", "?reset=TRUE"])
    test(`GET ${path}${query} is rejected and resets nothing`, async (context) => {
      const { call, metrics } = await runningManagement(context);
      metrics.received("s1", transaction);

      const { status, body } = await call("GET", `${path}${query}`);

      assert.equal(status, 400);
      assert.equal(body.success, "false");
      assert.equal(metrics.snapshot().sum.sum.incomingTransactions, 1);
    });
}

test("attempts, stored events and dead letters of a sink are counted in the metrics of the service", async (context) => {
  const sink = new ScriptedSink(([event], write) => {
    if (event?.body === "poison")
      return new AgentError("POISON", "storing a value that never goes in", { retryable: false });
    return write <= 3 ? new AgentError("AWAY", "storing to the store that is away", { retryable: true }) : undefined;
  });
  const { agent, call } = await runningManagement(context, { sink });
  const headers = { "fiware-service": "openiot", "fiware-servicepath": "/", timestamp: "0" };

  await agent.assembly.sources[0]?.processor.emit([{ headers, body: "good" }]);
  await agent.assembly.sources[0]?.processor.emit([{ headers, body: "poison" }]);
  await agent.assembly.sinks[0]?.feed.drain(AbortSignal.timeout(120_000));

  const { body } = await call("GET", "/v1/admin/metrics");
  const { outgoingTransactions, outgoingTransactionError, incomingTransactionError, serviceTime } =
    body.services.openiot.subservs[""];
  assert.equal(incomingTransactionError, 1);
  assert.equal(outgoingTransactions - outgoingTransactionError, 1);
  assert.ok(outgoingTransactionError >= 4);
  assert.ok(serviceTime > 1_000_000_000_000);
});

test("PUT /v1/stats does not change the metrics", async (context) => {
  const { call, metrics } = await runningManagement(context);
  metrics.received("s1", transaction);

  await call("PUT", "/v1/stats");

  assert.equal(metrics.snapshot().sum.sum.incomingTransactions, 1);
});
