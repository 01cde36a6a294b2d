import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type AgentProcess, startAgent } from "../../support/agent-process.js";
import { postgresqlDatabase, type TestDatabase } from "../../support/postgresql.js";
import { answersKafka, kafkaOfTests, NO_KAFKA } from "../../support/provided-kafka.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { agentProperties, storedIn } from "./agent-to-rows.js";
import { notificationRecord } from "./running-source.js";
import { ownTopic, topicClient } from "./topic-client.js";

const skip = (await answersKafka()) ? false : NO_KAFKA;

const PARTITIONS = 4;
const RECORDS = 1200;
const KILLS = 4;

test("each record is one row, although agents of a group are killed between their puts and the commits of the offsets", {
  skip,
}, async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("needs PostgreSQL");
  context.after(() => database.drop());
  const log = `deneb_test_log_${randomUUID()}`;
  const { topic, make, write } = await ownTopic(context);
  context.after(() => removed(log));
  await make(topic, PARTITIONS);
  const writing = writeSlowly(topic, write);
  const agents = [
    await started(context, { database, topic, log, name: "one" }),
    await started(context, { database, topic, log, name: "two" }),
  ];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = await storedIn(database);
    await until(
      () => storedIn(database),
      ({ rows }) => rows > before.rows || rows === RECORDS,
    );
    const at = kill % 2;
    await agents[at]?.process.end("SIGKILL");
    agents[at] = await started(context, { database, topic, log, name: at === 0 ? "one" : "two" });
  }
  await writing;

  const stored = await until(
    () => storedIn(database),
    ({ different }) => different === RECORDS,
    120_000,
  );

  assert.deepEqual(stored, { rows: RECORDS, different: RECORDS });
  await until(
    () => Promise.all(agents.map(({ process }) => waitingOf(process))),
    (waiting) => waiting.every((events) => events === 0),
  );
  assert.deepEqual(await storedIn(database), { rows: RECORDS, different: RECORDS });
});

interface Setup {
  readonly database: TestDatabase;
  readonly topic: string;
  readonly log: string;
  readonly name: string;
}

async function started(context: TestContext, setup: Setup) {
  const folder = await tempFolder(context);
  return { process: await startAgent(context, { properties: propertiesOf(setup), folder }) };
}

// Offsets are committed so late that a kill makes the next agent read most records again.
function propertiesOf({ database, topic, log }: Setup): string {
  return `${agentProperties(database, { bootstrap: kafkaOfTests(), topic, log })}
deneb.sources.k.commit_interval = 600000
deneb.sources.k.session_timeout = 6000
deneb.channels.c.partitions = 4
deneb.channels.c.session_timeout = 2
deneb.sinks.s.batch_retry_intervals = 100
`;
}

async function writeSlowly(topic: string, write: Awaited<ReturnType<typeof topicClient>>["write"]): Promise<void> {
  for (let n = 0; n < RECORDS; n += 50) {
    const records = Array.from({ length: 50 }, (_, more) => notificationRecord(n + more));
    await write(topic, (n / 50) % PARTITIONS, records);
  }
}

async function waitingOf({ managementUrl }: AgentProcess): Promise<unknown> {
  const reply = await fetch(`${managementUrl}/v1/stats`);
  return JSON.parse(await reply.text()).stats.channels[0].log.waiting;
}

async function removed(log: string): Promise<void> {
  const client = await topicClient();
  await client.remove(log, `${log}.agents`, `${log}.letters`);
  client.close();
}
