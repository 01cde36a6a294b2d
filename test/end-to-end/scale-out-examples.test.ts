import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { postgresqlDatabase } from "../support/postgresql.js";
import { answersKafka, kafkaOfTests, NO_KAFKA } from "../support/provided-kafka.js";
import { answersNats, natsOfTests } from "../support/provided-nats.js";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { notification, post } from "./notification.js";

const AGENTS = 3;
const ENTITIES = 12;
const ROUNDS = 5;

interface Example {
  readonly engine: string;
  /** Why it cannot run; undefined when it can. */
  missing(): Promise<string | undefined>;
  readonly env: () => Readonly<Record<string, string>>;
}

const examples: readonly Example[] = [
  {
    engine: "kafka",
    missing: async () => ((await answersKafka()) ? undefined : NO_KAFKA),
    env: () => ({ AGENT_KAFKA_SERVERS: kafkaOfTests() }),
  },
  {
    engine: "jetstream",
    missing: async () => ((await answersNats(natsOfTests())) ? undefined : "needs NATS with JetStream"),
    env: () => ({ AGENT_NATS_SERVERS: `nats://${natsOfTests().host}:${natsOfTests().port}` }),
  },
];

async function threeAgents(context: TestContext, { engine, env }: Example, database: Readonly<Record<string, string>>) {
  const folder = await tempFolder(context);
  const file = path.join(repositoryRoot, "config", "examples", `scale-out-${engine}.properties`);
  // The servers are used by others, too: the log is of this test.
  const name = `deneb-example-${randomUUID()}`;
  const properties = (await readFile(file, "utf8"))
    .replace("port = 5050", "port = 0")
    .replace(/= deneb-example$/m, `= ${name}`);
  return await Promise.all(
    Array.from({ length: AGENTS }, async (_, agent) => {
      const own = path.join(folder, String(agent));
      await mkdir(own);
      return await startAgent(context, { properties, folder: own, env: { ...env(), ...database } });
    }),
  );
}

async function booksOf({ managementUrl }: AgentProcess) {
  const { stats } = JSON.parse(await (await fetch(`${managementUrl}/v1/stats`)).text());
  return stats.channels[0].log;
}

for (const example of examples)
  test(`three agents with config/examples/scale-out-${example.engine}.properties store what each of them accepts, once`, async (context) => {
    const missing = await example.missing();
    const database = missing === undefined ? await postgresqlDatabase() : undefined;
    if (database === undefined) return context.skip(missing ?? "needs PostgreSQL");
    context.after(() => database.drop());
    const { host, port, user, password, database: name } = database;
    const agents = await threeAgents(context, example, {
      AGENT_RDB_HOST: host,
      AGENT_RDB_PORT: String(port),
      AGENT_RDB_USER: user,
      AGENT_RDB_PASS: password,
      AGENT_RDB_DATABASE: name,
    });

    for (let round = 0; round < ROUNDS; round += 1)
      for (let entity = 0; entity < ENTITIES; entity += 1) {
        const agent = agents[(round + entity) % AGENTS];
        assert.equal(await post(agent?.notifyUrl ?? "", notification(`urn:ngsi-ld:Room:${entity}`, round)), 200);
      }
    const books = await until(
      async () => await Promise.all(agents.map(booksOf)),
      (all) => all.every(({ waiting, stored }) => waiting === 0 && stored === ROUNDS * ENTITIES),
    );
    const rows = await database.query("SELECT entityid, temperature FROM openiot.room ORDER BY recvtime");

    assert.deepEqual(
      books.map(({ unaccounted, dead_lettered }) => [unaccounted, dead_lettered]),
      agents.map(() => [0, 0]),
    );
    assert.equal(rows.length, ROUNDS * ENTITIES);
    for (let entity = 0; entity < ENTITIES; entity += 1) {
      const own = rows.filter(({ entityid }) => entityid === `urn:ngsi-ld:Room:${entity}`);
      assert.deepEqual(
        own.map(({ temperature }) => temperature),
        Array.from({ length: ROUNDS }, (_, round) => String(round)),
      );
    }
  });
