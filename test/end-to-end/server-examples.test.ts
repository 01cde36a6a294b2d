import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import Database from "libsql";
import { connectAsync } from "mqtt";
import { type Received, receiver } from "../plugins/http-sink/receiver.js";
import { notificationRecord } from "../plugins/kafka/running-source.js";
import { ownTopic } from "../plugins/kafka/topic-client.js";
import { publisher } from "../plugins/mqtt-source/running-source.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { brokerOfTests } from "../support/mosquitto-server.js";
import { answersKafka, kafkaOfTests, NO_KAFKA } from "../support/provided-kafka.js";
import { reachable } from "../support/reachable.js";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { notification, post } from "./notification.js";

async function exampleText(name: string): Promise<string> {
  return await readFile(path.join(repositoryRoot, "config", "examples", `${name}.properties`), "utf8");
}

/** The values of column n in all tables of a SQLite file. */
function valuesIn(file: string): readonly string[] {
  const connection = new Database(file);
  const texts = (text: string) => connection.prepare(text).pluck().all().map(String);
  const tables = texts("SELECT t.name FROM sqlite_master t JOIN pragma_table_info(t.name) c WHERE c.name = 'n'");
  const values = tables.flatMap((table) => texts(`SELECT n FROM "${table}" ORDER BY rowid`));
  connection.close();
  return values;
}

test("config/examples/mqtt-in.properties stores what a broker has, also what came while the agent was away", async (context) => {
  const { host, port } = brokerOfTests();
  if (!(await reachable(host, port))) return context.skip("needs Mosquitto");
  const url = `mqtt://${host}:${port}`;
  const folder = await tempFolder(context);
  const id = randomUUID();
  // Others use the broker, too: topics and name of the client are of this test.
  const properties = (await exampleText("mqtt-in")).replaceAll("orion/", `${id}/`).replace("deneb-example", id);
  context.after(async () => (await connectAsync(url, { clientId: id, clean: true })).endAsync());
  const publish = await publisher(context, url);
  const note = (value: number) =>
    JSON.stringify({
      subscriptionId: "s",
      data: [{ id: "r", type: "Room", n: { type: "Number", value, metadata: {} } }],
    });
  const run = () => startAgent(context, { properties, folder, env: { AGENT_MQTT_URL: url } });
  const persisted = async ({ managementUrl }: AgentProcess): Promise<number> =>
    JSON.parse(await (await fetch(`${managementUrl}/v1/stats`)).text()).stats.sinks[0].num_persisted_events;
  const untilPersisted = (agent: AgentProcess, count: number) =>
    until(
      () => persisted(agent),
      (events) => events === count,
    );
  // A file is read when nobody writes to it any more.
  const stored = (service: string) => valuesIn(path.join(folder, "data", `${service}.db`));

  const first = await run();
  await until(
    async () => first.lines.some(({ msg }) => msg === "subscribed"),
    (subscribed) => subscribed,
  );
  await publish(`${id}/openiot/park`, note(1));
  await publish(`${id}/smartcity`, note(2));
  await untilPersisted(first, 2);
  const firstCode = await first.end("SIGTERM");
  await publish(`${id}/openiot/park`, note(3));
  const second = await run();
  await untilPersisted(second, 1);
  const secondCode = await second.end("SIGTERM");

  assert.deepEqual([stored("openiot"), stored("smartcity")], [["1", "3"], ["2"]]);
  assert.deepEqual([firstCode, secondCode], [0, 0]);
});

test("config/examples/kafka-in.properties stores what is in a topic", async (context) => {
  if (!(await answersKafka())) return context.skip(NO_KAFKA);
  const { topic, make, write } = await ownTopic(context);
  await make(topic);
  await write(
    topic,
    0,
    [1, 2, 3].map((n) => notificationRecord(n, { "Fiware-Service": "openiot" })),
  );
  const folder = await tempFolder(context);
  const properties = (await exampleText("kafka-in")).replace("= orion", `= ${topic}`).replace("deneb-example", topic);
  const agent = await startAgent(context, { properties, folder, env: { AGENT_KAFKA_SERVERS: kafkaOfTests() } });

  await until(
    async () => JSON.parse(await (await fetch(`${agent.managementUrl}/v1/stats`)).text()).stats.sinks[0],
    ({ num_persisted_events }) => num_persisted_events === 3,
  );
  const code = await agent.end("SIGTERM");

  assert.deepEqual(valuesIn(path.join(folder, "data", "openiot.db")), ["1", "2", "3"]);
  assert.equal(code, 0);
});

test("config/examples/http-out.properties sends entities to the other service, again when it is away", async (context) => {
  const service = await receiver(context, (response, number) => response.writeHead(number === 1 ? 503 : 204).end());
  const folder = await tempFolder(context);
  const properties = (await exampleText("http-out"))
    .replace("http://localhost:8080", service.url)
    .replace(".port = 5050", ".port = 0");
  const agent = await startAgent(context, { properties, folder });

  assert.equal(await post(agent.notifyUrl, notification("urn:ngsi-ld:Room:1", 21)), 200);
  assert.equal(await post(agent.notifyUrl, notification("urn:ngsi-ld:Room:2", 22)), 200);
  await until(
    async () => service.requests.slice(1).flatMap(idsOf),
    (ids) => ids.length >= 2,
  );
  const code = await agent.end("SIGTERM");

  const [refused, ...taken] = service.requests;
  assert.deepEqual(taken.flatMap(idsOf), ["urn:ngsi-ld:Room:1", "urn:ngsi-ld:Room:2"]);
  assert.deepEqual(idsOf(refused), idsOf(taken[0]), "what was refused is sent again");
  const { method, url, headers } = taken[0] ?? {};
  assert.deepEqual(
    [method, url, headers?.["content-type"], headers?.["fiware-service"], headers?.["fiware-servicepath"]],
    ["POST", "/entities?type=Room", "application/json", "openiot", "/"],
  );
  assert.equal(code, 0);
});

function idsOf(request: Received | undefined): readonly unknown[] {
  const { data }: { readonly data: readonly { readonly id: unknown }[] } = JSON.parse(request?.body ?? "{}");
  return data.map(({ id }) => id);
}
