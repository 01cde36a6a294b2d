import assert from "node:assert/strict";
import { test } from "node:test";
import { logContext } from "../../core/pipeline/log-context.js";

const of = (transaction: string) => ({
  headers: {
    "fiware-correlator": "c",
    "transaction-id": transaction,
    "fiware-service": "s",
    "fiware-servicepath": "/",
  },
  body: {},
});

test("events of one notification are about it", () =>
  assert.deepEqual(logContext([of("t"), of("t")]), { corr: "c", trans: "t", srv: "s", subsrv: "/" }));

for (const events of [[], [of("t"), of("u")], [{ headers: {}, body: {} }]])
  test(`${events.length} events of no single notification are about none`, () =>
    assert.deepEqual(logContext(events), {}));

test("events of one traced notification have the ids of its span", () => {
  const event = of("t");
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

  assert.deepEqual(logContext([{ ...event, headers: { ...event.headers, traceparent } }]), {
    corr: "c",
    trans: "t",
    srv: "s",
    subsrv: "/",
    trace_id: "4bf92f3577b34da6a3ce929d0e0e4736",
    span_id: "00f067aa0ba902b7",
  });
});
