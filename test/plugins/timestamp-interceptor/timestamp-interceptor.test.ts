import assert from "node:assert/strict";
import { test } from "node:test";
import plugin from "../../../plugins/timestamp-interceptor/index.js";
import { intercepted } from "../../support/intercepted.js";
import { recordingLog } from "../../support/recording-log.js";

const { log } = recordingLog();
const context = { name: "ts", log, dataDir: "", run: "run", now: () => new Date(5000) };

const cases = [
  {
    name: "a missing time is added",
    headerName: "timestamp",
    preserveExisting: false,
    before: { a: "b" },
    after: { a: "b", timestamp: "5000" },
  },
  {
    name: "a time is replaced",
    headerName: "timestamp",
    preserveExisting: false,
    before: { timestamp: "1" },
    after: { timestamp: "5000" },
  },
  {
    name: "a time is preserved",
    headerName: "timestamp",
    preserveExisting: true,
    before: { timestamp: "1" },
    after: { timestamp: "1" },
  },
  {
    name: "a missing time is added when times are preserved",
    headerName: "timestamp",
    preserveExisting: true,
    before: {},
    after: { timestamp: "5000" },
  },
  {
    name: "another header gets the time, its name in lower case",
    headerName: "Stored",
    preserveExisting: false,
    before: {},
    after: { stored: "5000" },
  },
] as const;
for (const { name, headerName, preserveExisting, before, after } of cases)
  test(name, () => {
    const event = Object.freeze({ headers: Object.freeze({ ...before }), body: { id: "a" } });

    const result = intercepted(plugin.create({ headerName, preserveExisting }, context), event);

    assert.deepEqual(result, { headers: after, body: { id: "a" } });
    assert.equal(result?.body, event.body);
  });

test("an empty header name is a fault", () => {
  const faults = plugin.check?.({ headerName: "", preserveExisting: false });

  assert.deepEqual(
    faults?.map(({ property }) => property),
    ["headerName"],
  );
});
