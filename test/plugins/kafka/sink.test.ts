import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import type { Entity } from "../../../core/ngsi/index.js";
import { eventsOf } from "../../../core/sdk/errors.js";
import type { Batch, Event } from "../../../core/sdk/index.js";
import { codeOf, retryableOf } from "../../../core/sdk/index.js";
import { selfSigned } from "../../support/certificates.js";
import { answersKafka, NO_KAFKA } from "../../support/provided-kafka.js";
import { tempFolder } from "../../support/temp-folder.js";
import { runningSink } from "./running-sink.js";
import { ownTopic } from "./topic-client.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;

function room(id: string, n: number | string, headers: Readonly<Record<string, string>> = {}): Event<Entity> {
  const value =
    typeof n === "number" ? ({ kind: "number", text: String(n) } as const) : ({ kind: "string", text: n } as const);
  const attributes = [{ name: "n", type: "Number", form: "normalized", value, members: [] }] as const;
  const own = { "fiware-service": "openiot", "fiware-servicepath": "/park", timestamp: "1714979289123", ...headers };
  return { headers: own, body: { id, type: "Room", api: "v2", attributes } };
}

const batchOf = (...events: readonly Event[]): Batch => ({ events, idOf: (event) => `id-${events.indexOf(event)}` });

const persist = async (sink: { persist(batch: Batch): Promise<unknown> }, batch: Batch): Promise<unknown> =>
  await sink.persist(batch).then(
    () => undefined,
    (error: unknown) => error,
  );

/** The events that an error names, by their place in the batch, with code and whether to try again. */
function namedBy(
  error: unknown,
  { events }: Batch,
): readonly (readonly [number, string | undefined, boolean | undefined])[] {
  const named = eventsOf(error);
  assert.ok(named instanceof Map);
  return [...named].map(([event, own]) => [events.indexOf(event), codeOf(own), retryableOf(own)]);
}

test("an entity is a record with its key, its JSON, its tenant, its attributes and the id of its event", {
  skip,
}, async (context) => {
  const { topic, read } = await ownTopic(context);
  const sink = await runningSink(context, { topic });

  await sink.persist(batchOf(room("room-1", 21, { "fiware-correlator": "c1" })));

  const [record, ...more] = await read(topic);
  assert.deepEqual(more, []);
  assert.equal(record?.key, '["openiot","/park","room-1","Room"]');
  assert.equal(record.value, '{"id":"room-1","type":"Room","n":{"type":"Number","value":21,"metadata":{}}}');
  assert.equal(record.timestamp, 1714979289123);
  assert.deepEqual(record.headers, {
    "content-type": "application/json",
    "fiware-service": "openiot",
    "fiware-servicepath": "/park",
    "fiware-correlator": "c1",
    "entity-type": "Room",
    attributes: '["n"]',
    "deneb-event-id": "id-0",
  });
});

test("with key = id and value = keyValues the key is the id and the value has bare values", {
  skip,
}, async (context) => {
  const { topic, read } = await ownTopic(context);
  const sink = await runningSink(context, { topic, key: "id", value: "keyValues" });

  await sink.persist(batchOf(room("room-1", 21)));

  const [record] = await read(topic);
  assert.deepEqual([record?.key, record?.value], ["room-1", '{"id":"room-1","type":"Room","n":21}']);
});

test("the records of each entity are in one partition of a topic that was made, in order", {
  skip,
}, async (context) => {
  const { topic, read } = await ownTopic(context);
  const sink = await runningSink(context, { topic, partitions: 3, replication_factor: 1 });
  const events = Array.from({ length: 300 }, (_, n) => room(`room-${n % 10}`, n));

  await sink.persist(batchOf(...events.slice(0, 150)));
  await sink.persist(batchOf(...events.slice(150)));

  const records = await read(topic);
  assert.equal(new Set(records.map(({ partition }) => partition)).size, 3);
  for (let id = 0; id < 10; id += 1) {
    const own = records.filter(({ key }) => key?.includes(`"room-${id}"`));
    const values = own.map(({ value }) => JSON.parse(value).n.value);
    assert.deepEqual(
      values,
      Array.from({ length: 30 }, (_, n) => n * 10 + id),
    );
    assert.equal(new Set(own.map(({ partition }) => partition)).size, 1);
  }
});

test("of a batch with a record too large, a body that is no entity and a bad topic the others are written, and each is named", {
  skip,
}, async (context) => {
  const { topic, make, read } = await ownTopic(context, ".s1");
  await make(`${topic}.s1`, 1, { "max.message.bytes": "100000" });
  const sink = await runningSink(context, { topic: `${topic}.{{header.fiware-service}}` });
  const inS1 = { "fiware-service": "s1" };
  const batch = batchOf(
    room("room-1", 1, inS1),
    room("room-1", "x".repeat(200_000), inS1),
    { headers: inS1, body: 7 },
    room("room-2", 2, { "fiware-service": "ä/b" }),
    room("room-1", 3, inS1),
  );

  const error = await persist(sink, batch);

  assert.deepEqual(namedBy(error, batch).toSorted(), [
    [1, "RECORD_TOO_LARGE", false],
    [2, "NOT_AN_ENTITY", false],
    [3, "TOPIC_NAME_INVALID", false],
  ]);
  assert.equal(retryableOf(error), false);
  const values = (await read(`${topic}.s1`)).map(({ value }) => JSON.parse(value).n.value);
  assert.deepEqual(values, [1, 3]);
});

test("events that fit one by one are written although the topic takes no two of them at once", {
  skip,
}, async (context) => {
  const { topic, make, read } = await ownTopic(context);
  await make(topic, 1, { "max.message.bytes": "60000" });
  const sink = await runningSink(context, { topic });

  await sink.persist(batchOf(...Array.from({ length: 20 }, (_, n) => room("room-1", `${n} ${"x".repeat(40_000)}`))));

  const numbers = (await read(topic)).map(({ value }) => Number.parseInt(JSON.parse(value).n.value, 10));
  assert.deepEqual(
    numbers,
    Array.from({ length: 20 }, (_, n) => n),
  );
});

test("with create_topic = false events wait for the only topic, and become dead letters where the topic is theirs", {
  skip,
}, async (context) => {
  const { topic } = await ownTopic(context);
  const only = await runningSink(context, { topic, create_topic: false, request_timeout: 5000 });
  const varied = await runningSink(context, { topic: `${topic}-{{entity.type}}`, create_topic: false });
  const batch = batchOf(room("room-1", 1));

  const waits = await persist(only, batch);
  const fails = await persist(varied, batch);

  assert.deepEqual([codeOf(waits), retryableOf(waits), eventsOf(waits)], ["KAFKA_SETTINGS", true, undefined]);
  assert.deepEqual(namedBy(fails, batch), [[0, "KAFKA_SETTINGS", false]]);
});

test("a topic that is removed while it is written to is made again", { skip }, async (context) => {
  const { topic, read, remove } = await ownTopic(context);
  const sink = await runningSink(context, { topic, request_timeout: 3000 });
  await sink.persist(batchOf(room("room-1", 1)));
  await remove(topic);

  const errors: unknown[] = [];
  for (let attempt = 0; attempt < 20 && errors.at(-1) !== "done"; attempt += 1) {
    errors.push((await persist(sink, batchOf(room("room-1", 2)))) ?? "done");
  }

  assert.equal(errors.at(-1), "done");
  assert.ok(errors.slice(0, -1).every((error) => retryableOf(error) === true));
  assert.equal((await read(topic)).at(-1)?.value.includes('"value":2'), true);
});

test("without a broker a write fails retryably and the start does not", async (context) => {
  const sink = await runningSink(context, { bootstrap_servers: ["127.0.0.1:1"], request_timeout: 200 });

  const error = await persist(sink, batchOf(room("room-1", 1)));

  assert.deepEqual([codeOf(error), retryableOf(error)], ["KAFKA_UNAVAILABLE", true]);
  assert.equal(await sink.answers(error), false);
});

test("while the files of its certificates are being replaced a write fails retryably, and no event is to blame", async (context) => {
  const folder = await tempFolder(context);
  const { cert, key } = selfSigned("deneb");
  const [certFile, keyFile] = [path.join(folder, "cert.pem"), path.join(folder, "key.pem")];
  await writeFile(certFile, cert);
  await writeFile(keyFile, key);
  const sink = await runningSink(context, {
    bootstrap_servers: ["127.0.0.1:1"],
    request_timeout: 200,
    security_protocol: "SSL",
    ssl_cert_file: certFile,
    ssl_key_file: keyFile,
  });

  await writeFile(certFile, selfSigned("deneb").cert);
  const between = await persist(sink, batchOf(room("room-1", 1)));
  await writeFile(certFile, cert);
  const after = await persist(sink, batchOf(room("room-1", 1)));

  assert.deepEqual([codeOf(between), retryableOf(between)], ["CERTIFICATE_UNREADABLE", true]);
  assert.deepEqual([codeOf(after), retryableOf(after)], ["KAFKA_UNAVAILABLE", true]);
});

test("events whose own topic is removed and made again under a write wait for the new one, and are no dead letters", {
  skip,
}, async (context) => {
  const { topic, make, remove, read } = await ownTopic(context, "-Room");
  const sink = await runningSink(context, { topic: `${topic}-{{entity.type}}`, create_topic: false });
  await make(`${topic}-Room`);
  await sink.persist(batchOf(room("room-1", 1)));
  await remove(`${topic}-Room`);

  const batch = batchOf(room("room-1", 2));
  const writing = persist(sink, batch);
  await make(`${topic}-Room`);
  const error = await writing;
  // The brokers may have taken it before the sink has seen that the topic is another one, or into the one that is gone.
  if (error !== undefined || (await read(`${topic}-Room`)).length === 0) await sink.persist(batch);

  assert.notEqual(retryableOf(error), false);
  assert.deepEqual(
    (await read(`${topic}-Room`)).map(({ value }) => JSON.parse(value).n.value),
    [2],
  );
});
