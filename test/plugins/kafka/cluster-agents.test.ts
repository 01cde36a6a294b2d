import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { Event } from "../../../core/sdk/index.js";
import { startAgent } from "../../support/agent-process.js";
import { kafkaPrograms } from "../../support/kafka-jars.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { NO_KAFKA } from "../../support/provided-kafka.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { agentProperties, inPostgresql } from "./agent-to-rows.js";
import { type OwnCluster, startKafkaCluster } from "./cluster.js";
import { runningSink } from "./running-sink.js";
import { notificationRecord, numberOf, runningSource } from "./running-source.js";
import { topicClient } from "./topic-client.js";

/** Between two that are sent: their number is no matter, that they go on is. */
const BREATH_MILLIS = 10;
const PATIENCE_MILLIS = 240_000;

const programs = await kafkaPrograms();
const skip = programs === undefined ? NO_KAFKA : false;

let cluster: OwnCluster;
before(async () => {
  if (programs === undefined) return;
  cluster = await startKafkaCluster(programs);
  await cluster.complete();
  await cluster.whole();
});
after(async () => {
  if (programs !== undefined) await cluster.stop();
});

async function ownClient(context: TestContext) {
  const client = await topicClient({ bootstrap_servers: [...cluster.bootstrap], request_timeout: PATIENCE_MILLIS });
  context.after(() => client.close());
  return client;
}

test("a rolling restart of all brokers loses and doubles no notification on its way from clients and a topic to rows", {
  skip,
}, async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("needs PostgreSQL");
  context.after(() => database.drop());
  const client = await ownClient(context);
  const topic = randomUUID();
  await client.make(topic, 3);
  const where = { bootstrap: cluster.bootstrap.join(" "), topic, log: `${topic}-log` };
  const store = inPostgresql(database);
  const properties = agentProperties(store, where);
  const agents = [];
  for (const _ of ["one", "two"]) {
    agents.push(await startAgent(context, { properties, folder: await tempFolder(context) }));
  }
  let isOver = false;
  let sent = 0;
  const sending = agents.map(async ({ notifyUrl }) => {
    while (!isOver) {
      const n = sent;
      sent += 1;
      if (n % 3 === 0) await client.write(topic, n % 9 === 0 ? 0 : 1, [notificationRecord(n)]);
      else assert.equal(await posted(notifyUrl, n), 200);
      await pause(BREATH_MILLIS);
    }
  });
  const goOn = async () => {
    const before = await store.stored();
    await until(
      () => store.stored(),
      ({ rows }) => rows > before.rows + 20,
      PATIENCE_MILLIS,
    );
  };

  await goOn();
  for (const broker of cluster.brokers) {
    await broker.shutDown();
    await goOn();
    await broker.resume();
    await cluster.whole();
    await goOn();
  }
  isOver = true;
  await Promise.all(sending);

  await until(
    () => store.stored(),
    ({ different }) => different === sent,
    PATIENCE_MILLIS,
  );
  assert.equal((await store.stored()).rows, sent);
  for (const agent of agents) assert.equal(await agent.end("SIGTERM"), 0);
  assert.deepEqual(await store.stored(), { rows: sent, different: sent });
});

test("a source goes on in order, and a sink writes on, once and in order, while a broker after another is killed: the coordinator of the group and the leader of the partition among them", {
  skip,
}, async (context) => {
  const client = await ownClient(context);
  const topic = randomUUID();
  await client.make(topic, 3);
  const config = { bootstrap_servers: [...cluster.bootstrap], topics: [topic], group: topic };
  const { received, emitted, lines } = await runningSource(context, { config });
  await client.write(topic, 0, [notificationRecord(0), notificationRecord(1)]);
  await received(2);
  const written = `${topic}-sink`;
  const sink = await runningSink(context, {
    bootstrap_servers: [...cluster.bootstrap],
    request_timeout: PATIENCE_MILLIS,
    topic: written,
    partitions: 1,
  });
  await sink.persist({ events: [room("first")] });
  const emittedOf = (n: number) =>
    new Set(emitted.filter((event) => numberOf(event) === n).map(({ headers }) => headers["deneb-origin"]));

  for (const [index, broker] of cluster.brokers.entries()) {
    await broker.halt();
    await sink.persist({ events: [room(`${index} a`), room(`${index} b`)] });
    for (const partition of [0, 1, 2]) await client.write(topic, partition, [notificationRecord(2 + index)]);
    await until(
      async () => emittedOf(2 + index).size,
      (partitions) => partitions === 3,
      PATIENCE_MILLIS,
    );
    await broker.resume();
    await cluster.whole();
  }
  await sink.persist({ events: [room("last")] });

  for (const partition of [0, 1, 2]) {
    const of = emitted.filter(({ headers }) => headers["deneb-origin"]?.includes(`/${partition}/`));
    assert.deepEqual([...new Set(of.map(numberOf))], partition === 0 ? [0, 1, 2, 3, 4] : [2, 3, 4]);
  }
  // On a busy machine it takes more than session_timeout until the group is one again, which is said.
  const reasons = lines
    .filter(({ message }) => message === "no reading from Kafka")
    .map(({ fields }) => reasonIn(fields));
  assert.deepEqual(
    reasons.filter((reason) => !reason.includes(" waits for ")),
    [],
  );
  const ids = (await client.read(written)).map(({ value }) => JSON.parse(value).id);
  assert.deepEqual(ids, ["first", "0 a", "0 b", "1 a", "1 b", "2 a", "2 b", "last"]);
  assert.deepEqual(await cluster.topics([written]), [{ replicas: 3, "min.insync.replicas": "2" }]);
});

const room = (id: string): Event => ({
  headers: { "fiware-service": "openiot", "fiware-servicepath": "/" },
  body: { id, type: "Room", attributes: [] },
});

function reasonIn(fields: unknown): string {
  return String(Reflect.get(Object(fields), "reason"));
}

async function posted(url: string, n: number): Promise<number> {
  const entity = { id: `room-${n % 7}`, type: "Room", n: { type: "Number", value: n, metadata: {} } };
  const body = JSON.stringify({ subscriptionId: "5aeb0ee97d4ef10a12a0262f", data: [entity] });
  const headers = { "content-type": "application/json", "fiware-service": "svc", "fiware-servicepath": "/" };
  const reply = await fetch(url, { method: "POST", headers, body });
  await reply.text();
  return reply.status;
}
