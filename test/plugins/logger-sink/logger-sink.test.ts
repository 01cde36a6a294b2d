import assert from "node:assert/strict";
import { test } from "node:test";
import plugin from "../../../plugins/logger-sink/index.js";
import { recordingLog } from "../../support/recording-log.js";

const bodies = [{ id: "urn:e:1", type: "T", attributes: [{ name: "secret" }] }, "not an entity"];
const batch = { events: bodies.map((body) => ({ headers: {}, body })) };

const cases = [
  { show: "count", fields: { events: 2 } },
  { show: "entities", fields: { events: 2, entities: [{ id: "urn:e:1", type: "T" }, undefined] } },
] as const;
for (const { show, fields } of cases)
  test(`a batch gives one line with its ${show}`, async () => {
    const { log, lines } = recordingLog();
    const sink = plugin.create({ show }, { name: "s1", log, dataDir: "", run: "run", now: () => new Date(0) });
    await sink.start();

    const receipt = await sink.persist(batch, AbortSignal.abort());
    await sink.stop(AbortSignal.abort());

    assert.deepEqual(receipt, { requestBytes: 0, responseBytes: 0 });
    assert.deepEqual(lines, [{ level: "info", fields, message: "batch received" }]);
  });
