import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, type TestContext, test } from "node:test";
import type { Event } from "../../../core/sdk/index.js";
import { startAgent } from "../../support/agent-process.js";
import { kafkaPrograms } from "../../support/kafka-jars.js";
import { postgresqlDatabase, type TestDatabase } from "../../support/postgresql.js";
import { NO_KAFKA } from "../../support/provided-kafka.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { type OwnCluster, startKafkaCluster } from "./cluster.js";
import { runningSink } from "./running-sink.js";
import { notificationRecord, numberOf, runningSource } from "./running-source.js";
import { topicClient } from "./topic-client.js";

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
  const client = await topicClient({ bootstrap_servers: [...cluster.bootstrap] });
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
  const agents = [];
  for (const _ of ["one", "two"]) {
    agents.push(
      await startAgent(context, { properties: propertiesOf(database, topic), folder: await tempFolder(context) }),
    );
  }
  let isOver = false;
  let sent = 0;
  const sending = agents.map(async ({ notifyUrl }) => {
    while (!isOver) {
      const n = sent;
      sent += 1;
      if (n % 3 === 0) await client.write(topic, n % 9 === 0 ? 0 : 1, [notificationRecord(n)]);
      else assert.equal(await posted(notifyUrl, n), 200);
    }
  });
  const goOn = async () => {
    const before = await storedIn(database);
    await until(
      () => storedIn(database),
      ({ rows }) => rows > before.rows + 50,
      60_000,
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
    () => storedIn(database),
    ({ different }) => different === sent,
    60_000,
  );
  assert.equal((await storedIn(database)).rows, sent);
  for (const agent of agents) assert.equal(await agent.end("SIGTERM"), 0);
  assert.deepEqual(await storedIn(database), { rows: sent, different: sent });
});

test("a source goes on in order while the leader of its partition is killed, and says nothing of it", {
  skip,
}, async (context) => {
  const client = await ownClient(context);
  const topic = randomUUID();
  await client.make(topic, 3);
  const config = { bootstrap_servers: [...cluster.bootstrap], topics: [topic], group: topic };
  const { received, emitted, lines } = await runningSource(context, { config });
  await client.write(topic, 0, [notificationRecord(0), notificationRecord(1)]);
  await received(2);

  const leader = await cluster.leader(topic, 0);
  await leader.halt();
  await client.write(topic, 0, [notificationRecord(2), notificationRecord(3)]);
  await until(
    async () => new Set(emitted.map(numberOf)).size,
    (different) => different === 4,
    60_000,
  );
  await leader.resume();
  await cluster.whole();
  await client.write(topic, 0, [notificationRecord(4)]);
  await until(
    async () => new Set(emitted.map(numberOf)).size,
    (different) => different === 5,
    60_000,
  );

  assert.deepEqual([...new Set(emitted.map(numberOf))], [0, 1, 2, 3, 4]);
  assert.deepEqual(
    lines.filter(({ message }) => message === "no reading from Kafka"),
    [],
  );
});

test("a sink writes on, once and in order, while the leader of its partition is killed", { skip }, async (context) => {
  const client = await ownClient(context);
  const topic = randomUUID();
  const sink = await runningSink(context, { bootstrap_servers: [...cluster.bootstrap], topic, partitions: 1 });
  const room = (id: string): Event => ({
    headers: { "fiware-service": "openiot", "fiware-servicepath": "/" },
    body: { id, type: "Room", attributes: [] },
  });
  await sink.persist({ events: [room("a")] });

  const leader = await cluster.leader(topic, 0);
  await leader.halt();
  await sink.persist({ events: [room("b"), room("c")] });
  await leader.resume();
  await cluster.whole();
  await sink.persist({ events: [room("d")] });

  const ids = (await client.read(topic)).map(({ value }) => JSON.parse(value).id);
  assert.deepEqual(ids, ["a", "b", "c", "d"]);
  assert.deepEqual(await cluster.topics([topic]), [{ replicas: 3, "min.insync.replicas": "2" }]);
});

async function posted(url: string, n: number): Promise<number> {
  const entity = { id: `room-${n % 7}`, type: "Room", n: { type: "Number", value: n, metadata: {} } };
  const body = JSON.stringify({ subscriptionId: "5aeb0ee97d4ef10a12a0262f", data: [entity] });
  const headers = { "content-type": "application/json", "fiware-service": "svc", "fiware-servicepath": "/" };
  const reply = await fetch(url, { method: "POST", headers, body });
  await reply.text();
  return reply.status;
}

function propertiesOf({ host, port, user, password, database }: TestDatabase, topic: string): string {
  return `
deneb.sources = http-source k
deneb.channels = c
deneb.sinks = s
deneb.sources.http-source.type = http
deneb.sources.http-source.channels = c
deneb.sources.http-source.bind = 127.0.0.1
deneb.sources.http-source.port = 0
deneb.sources.http-source.handler = ngsi
deneb.sources.http-source.handler.ngsi_version = auto
deneb.sources.k.type = kafka
deneb.sources.k.channels = c
deneb.sources.k.bootstrap_servers = ${cluster.bootstrap.join(" ")}
deneb.sources.k.topics = ${topic}
deneb.sources.k.group = ${topic}
deneb.sources.k.service = svc
deneb.sources.k.handler = ngsi
deneb.sources.k.handler.ngsi_version = auto
deneb.channels.c.type = kafka
deneb.channels.c.bootstrap_servers = ${cluster.bootstrap.join(" ")}
deneb.channels.c.topic = ${topic}-log
deneb.channels.c.partitions = 6
deneb.sinks.s.type = rdb
deneb.sinks.s.channel = c
deneb.sinks.s.rdb_host = ${host}
deneb.sinks.s.rdb_port = ${port}
deneb.sinks.s.rdb_username = ${user}
deneb.sinks.s.rdb_password = ${password}
deneb.sinks.s.rdb_database = ${database}
deneb.sinks.s.data_model = dm-by-entity-type
`;
}

async function storedIn(database: TestDatabase): Promise<{ readonly rows: number; readonly different: number }> {
  try {
    const [counts] = await database.query("SELECT count(*) AS rows, count(DISTINCT n) AS different FROM svc.room");
    return { rows: Number(counts?.["rows"]), different: Number(counts?.["different"]) };
  } catch {
    return { rows: 0, different: 0 }; // The table is not there yet.
  }
}
