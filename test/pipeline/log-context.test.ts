import assert from "node:assert/strict";
import { test } from "node:test";
import { logContext } from "../../core/pipeline/log-lines.js";

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
