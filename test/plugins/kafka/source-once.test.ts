import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type AgentProcess, startAgent } from "../../support/agent-process.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { answersKafka, kafkaOfTests, NO_KAFKA } from "../../support/provided-kafka.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { agentProperties, inPostgresql, inSqlite, type RowStore } from "./agent-to-rows.js";
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

  await killedAgain(context, inPostgresql(database), ["one", "two"]);
});

test(
  "each record is one row in the embedded database, although the agent is killed between its puts and the commits of the offsets",
  {
    skip,
  },
  async (context) => await killedAgain(context, inSqlite(await tempFolder(context)), ["one"]),
);

/** Reads records with these agents, kills one after another while rows are stored, and wants one row of each record. */
async function killedAgain(context: TestContext, store: RowStore, names: readonly string[]): Promise<void> {
  const log = `deneb_test_log_${randomUUID()}`;
  const { topic, make, write } = await ownTopic(context);
  context.after(() => removed(log));
  await make(topic, PARTITIONS);
  const agents = await Promise.all(names.map((name) => started(context, { store, topic, log, name })));
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = await store.stored();
    await writePortion(kill, topic, write);
    await until(
      () => store.stored(),
      ({ rows }) => rows > before.rows,
    );
    const at = kill % names.length;
    await agents[at]?.process.end("SIGKILL");
    agents[at] = await started(context, { store, topic, log, name: names[at] ?? "" });
  }

  const stored = await until(
    () => store.stored(),
    ({ different }) => different === RECORDS,
    120_000,
  );

  assert.deepEqual(stored, { rows: RECORDS, different: RECORDS });
  await until(
    () => Promise.all(agents.map(({ process }) => waitingOf(process))),
    (waiting) => waiting.every((events) => events === 0),
  );
  assert.deepEqual(await store.stored(), { rows: RECORDS, different: RECORDS });
}

interface Setup {
  readonly store: RowStore;
  readonly topic: string;
  readonly log: string;
  readonly name: string;
}

async function started(context: TestContext, setup: Setup) {
  const folder = await tempFolder(context);
  return { process: await startAgent(context, { properties: propertiesOf(setup), folder }) };
}

// Offsets are committed so late that a kill makes the next agent read most records again, and batches are so small that one falls between two of them.
function propertiesOf({ store, topic, log }: Setup): string {
  return `${agentProperties(store, { bootstrap: kafkaOfTests(), topic, log })}
deneb.sources.k.commit_interval = 600000
deneb.sources.k.session_timeout = 6000
deneb.channels.c.partitions = 4
deneb.channels.c.session_timeout = 2
deneb.sinks.s.batch_size = 20
deneb.sinks.s.batch_retry_intervals = 100
`;
}

/** One for each kill, over all partitions. */
async function writePortion(
  portion: number,
  topic: string,
  write: Awaited<ReturnType<typeof topicClient>>["write"],
): Promise<void> {
  const size = RECORDS / KILLS / PARTITIONS;
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const first = (portion * PARTITIONS + partition) * size;
    const records = Array.from({ length: size }, (_, more) => notificationRecord(first + more));
    await write(topic, partition, records);
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
