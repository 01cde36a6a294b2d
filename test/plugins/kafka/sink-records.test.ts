import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "../../../core/sdk/index.js";
import { checkKafkaSink } from "../../../plugins/kafka/sink/config.js";
import { entityRecord, explainRecord } from "../../../plugins/kafka/sink/entity-record.js";
import { murmur2 } from "../../../plugins/kafka/sink/murmur2.js";
import { parseTopic } from "../../../plugins/kafka/sink/topic-template.js";
import { sinkConfig } from "./running-sink.js";

const hashes = [
  { key: "21", hash: -973932308 },
  { key: "foobar", hash: -790332482 },
  { key: "a-little-bit-long-string", hash: -985981536 },
  { key: "a-little-bit-longer-string", hash: -1486304829 },
  { key: "lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", hash: -58897971 },
  { key: "abc", hash: 479470107 },
] as const;
for (const { key, hash } of hashes)
  test(`the key "${key}" has the hash that the clients of Kafka give it`, () =>
    assert.equal(murmur2(Buffer.from(key)), hash));

const topics = [
  { topic: "ngsi", faults: 0 },
  { topic: "ngsi.{{header.Fiware-Service}}.{{ entity.type }}", faults: 0 },
  { topic: "ngsi/{{entity.type}}", faults: 1 },
  { topic: "ngsi.{{entity.id}}", faults: 1 },
  { topic: "", faults: 1 },
  { topic: "..", faults: 1 },
  { topic: "x".repeat(250), faults: 1 },
] as const;
for (const { topic, faults } of topics)
  test(`a sink with the topic "${topic.slice(0, 60)}" has ${faults} faults`, () =>
    assert.equal(checkKafkaSink({ ...sinkConfig, topic }).length, faults));

const tenants = [
  [{ service: "a", path: "/b", id: "c" }, '["a","/b","c"]'],
  [{ service: 'a","/b', path: "/", id: "c" }, '["a\\",\\"/b","/","c"]'],
  [{ service: "", path: "", id: "" }, '["","",""]'],
] as const;
for (const [{ service, path, id }, key] of tenants)
  test(`the key of entity "${id}" of service ${JSON.stringify(service)} is that of no other tenant`, () => {
    const event = {
      headers: { "fiware-service": service, "fiware-servicepath": path },
      body: { id, type: "T", attributes: [] },
    };

    assert.equal(recordOf(event).key, key);
  });

test("an event without a usable timestamp leaves that of the record to the client", () => {
  const body = { id: "i", type: "T", attributes: [] };

  assert.deepEqual(
    ["", "x", "-1", "1e400"].map((timestamp) => recordOf({ headers: { timestamp }, body }).timestamp),
    [undefined, undefined, undefined, undefined],
  );
});

test("an explanation shows topic, key, value and headers", () => {
  const body = { id: "i", type: "T", attributes: [] };
  const { writes } = explainRecord(
    { ...sinkConfig, topic: "ngsi.{{entity.type}}" },
    { headers: { "fiware-service": "s" }, body },
  );

  assert.deepEqual(writes, [
    {
      destination: { topic: "ngsi.T" },
      columns: [
        "key",
        "value",
        "header content-type",
        "header fiware-service",
        "header entity-type",
        "header attributes",
      ],
      rows: [['["s","","i"]', '{"id":"i","type":"T"}', "application/json", "s", "T", "[]"]],
    },
  ]);
});

function recordOf(event: Event) {
  return entityRecord(event, { topic: parseTopic("ngsi"), config: sinkConfig });
}
