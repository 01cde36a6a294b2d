import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { numberedRoom, postEntities } from "../support/post-entities.js";
import { postgresqlDatabase, type TestDatabase } from "../support/postgresql.js";
import { answersNats, natsOfTests } from "../support/provided-nats.js";
import { ServiceDatabase } from "../support/service-database.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const AGENTS = 2;

function properties({ host, port, user, password, database }: TestDatabase, stream: string): string {
  const nats = natsOfTests();
  return httpAgent({
    channel: "jetstream",
    sink: "rdb",
    lines: [
      `a.channels.c.servers = nats://${nats.host}:${nats.port}`,
      `a.channels.c.stream = ${stream}`,
      "a.channels.c.partitions = 1",
      "a.channels.c.session_timeout = 2",
      "a.sinks.k.batch_retry_intervals = 100",
      "a.sinks.k.data_model = dm-by-entity-type-database",
      `a.sinks.k.rdb_host = ${host}`,
      `a.sinks.k.rdb_port = ${port}`,
      `a.sinks.k.rdb_username = ${user}`,
      `a.sinks.k.rdb_password = ${password}`,
      `a.sinks.k.rdb_database = ${database}`,
    ],
  });
}

async function post(agent: AgentProcess | undefined, { name }: ServiceDatabase, ...numbers: readonly number[]) {
  for (const number of numbers) await postEntities(agent ?? assert.fail(), [numberedRoom(number)], name);
}

async function logOf(agent: AgentProcess | undefined) {
  const { stats } = JSON.parse(await (await fetch(`${agent?.managementUrl}/v1/stats`)).text());
  return stats.channels[0].log;
}

async function setUp(context: TestContext) {
  const database = (await answersNats(natsOfTests())) ? await postgresqlDatabase() : undefined;
  if (database === undefined) {
    context.skip("needs PostgreSQL and NATS");
    return undefined;
  }
  context.after(() => database.drop());
  const tag = randomUUID().slice(0, 8);
  const [good, bad] = [new ServiceDatabase(context, `good_${tag}`), new ServiceDatabase(context, `bad_${tag}`)];
  const folder = await tempFolder(context);
  const text = properties(database, `deneb-test-${randomUUID()}`);
  const start = async (agent: number) => {
    const own = path.join(folder, String(agent));
    await mkdir(own, { recursive: true });
    const env = { DENEB_RELOAD_INTERVAL: "0", DENEB_GRACE_PERIOD: "2", DENEB_DEAD_LETTER_REPLAY: "false" };
    return await startAgent(context, { properties: text, folder: own, env });
  };
  const agents = await Promise.all(Array.from({ length: AGENTS }, (_, agent) => start(agent)));
  return { good, bad, agents, start };
}

test("after a takeover a database that refuses connections holds up no events of others, and nothing is lost or stored twice, also over a kill meanwhile", async (context) => {
  const setting = await setUp(context);
  if (setting === undefined) return;
  const { good, bad, agents, start } = setting;
  const numbersOf = async (wanted: number) =>
    await until(
      () => good.numbers(),
      ({ length }) => length >= wanted,
    );
  for (const service of [good, bad]) await post(agents[0], service, 1);
  await until(
    () => logOf(agents[0]),
    ({ stored }) => stored === 2,
  );
  const holds = [await good.hold(), await bad.hold()];
  // The first one is being written when its agent is killed: it may be stored.
  for (const number of [2, 3, 4]) for (const service of [bad, good]) await post(agents[0], service, number);
  for (const agent of agents) await agent.end("SIGKILL");
  await bad.refuse();
  for (const hold of holds) await hold.end();

  const second = await start(0);
  await post(second, good, 5);
  const meanwhile = await numbersOf(5);
  await second.end("SIGKILL");
  const third = await start(1);
  await post(third, good, 6);
  const later = await numbersOf(6);
  const held = await logOf(third);
  await bad.admit();
  await post(third, bad, 7);
  const books = await until(
    () => logOf(third),
    ({ waiting, exact }) => waiting === 0 && exact,
  );

  assert.deepEqual(
    [meanwhile, later],
    [
      [1, 2, 3, 4, 5],
      [1, 2, 3, 4, 5, 6],
    ],
  );
  assert.equal(held.dead_lettered, 0);
  assert.deepEqual(
    [await good.numbers(), await bad.numbers()],
    [
      [1, 2, 3, 4, 5, 6],
      [1, 2, 3, 4, 7],
    ],
  );
  assert.deepEqual([books.stored, books.dead_lettered, books.unaccounted], [11, 0, 0]);
});
