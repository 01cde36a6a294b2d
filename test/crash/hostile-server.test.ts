import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import type { HostilePostgresql } from "./hostile-postgresql.js";
import { killAgain, type Trouble } from "./killed-agent.js";
import { hostilePostgresql, hostilePostgresqlOnSmallDisk } from "./own-hostile.js";
import { seeded } from "./seeded.js";
import {
  connectionsEnded,
  diskFilled,
  type Mishap,
  mishaps,
  schemaDropped,
  serverKilled,
  serverStopped,
} from "./troubles.js";
import { verdict } from "./verdict.js";

/** A few in the test suite; `npm run test:crash` sets 100. */
const kills = Number(process.env["DENEB_TEST_KILLS"] ?? 8);
const long = kills >= 100;
const seed = Number(process.env["DENEB_TEST_SEED"] ?? 1);
const rounds = long ? 20 : 3;
const outage = long ? 180_000 : 4000;
const patience = long ? 600_000 : 60_000;
const promise = "every notification answered 200 is stored exactly once";

test(`PostgreSQL killed with SIGKILL ${rounds} times under load: ${promise}`, async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;

  await judged(context, { server, trouble: mishaps([serverKilled(server)], rounds, seeded(seed)) });
});

test(`PostgreSQL away for ${outage / 1000} seconds under load: ${promise}`, async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;

  await judged(context, { server, trouble: serverStopped(server, outage) });
});

test(`the disk of PostgreSQL full ${rounds} times under load: ${promise}`, async (context) => {
  const own = await hostilePostgresqlOnSmallDisk(context);
  if (own === undefined) return;
  const { server, disk } = own;

  await judged(context, { server, trouble: mishaps([diskFilled(server, disk, 1500)], rounds, seeded(seed)) });
});

test(`the schema dropped ${rounds} times under load: ${promise}, but for the rows that were dropped`, async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;
  const gone: number[] = [];

  await judged(context, { server, gone, trouble: mishaps([schemaDropped(server, gone)], rounds * 3, seeded(seed)) });
});

test(`all of it while the agent is killed ${kills} times: ${promise}`, async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;
  const gone: number[] = [];
  const choice = [
    serverKilled(server),
    serverStopped(server, 500),
    connectionsEnded(server),
    schemaDropped(server, gone),
  ];

  await judged(context, { server, gone, kills, trouble: endless(choice) });
});

test(`the disk of PostgreSQL full while the agent is killed ${kills} times: ${promise}`, async (context) => {
  const own = await hostilePostgresqlOnSmallDisk(context);
  if (own === undefined) return;
  const { server, disk } = own;

  await judged(context, { server, kills, trouble: endless([diskFilled(server, disk, 700), serverKilled(server)]) });
});

test("two agents, each killed and with one server that is killed too, share a table: each row is there once", async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;
  const ends = await Promise.all(
    [1, 2].map(async (first) => {
      const plan = { sink: server.sink, folder: await tempFolder(context), kills, patience };
      const trouble = first === 1 ? { trouble: endless([serverKilled(server), connectionsEnded(server)]) } : {};
      return await killAgain({
        ...plan,
        ...trouble,
        clients: { count: 4, first, step: 2 },
        random: seeded(seed + first),
      });
    }),
  );

  for (const { letters } of ends) assert.deepEqual(letters, []);
  const sent = {
    accepted: new Set(ends.flatMap((end) => [...end.sent.accepted])),
    others: new Set(ends.flatMap((end) => [...end.sent.others])),
  };
  told(context, verdict(sent, await numbersIn(server)));
});

test("what an outage longer than the retries makes dead letters is told with its reason, and stored once by a replay", async (context) => {
  const server = await hostilePostgresql(context);
  if (server === undefined) return;
  const plan = {
    sink: { ...server.sink, batch_ttl: "2", batch_retry_intervals: "100" },
    folder: await tempFolder(context),
    kills: 0,
    clients: { count: 8 },
    random: seeded(seed),
    trouble: serverStopped(server, 1500),
    patience,
  };
  const end = await killAgain(plan, async (management) => {
    await fetch(`${management}/v1/admin/deadletters/replay`, { method: "POST" });
    await until(lettersAt(management), (count) => count === 0, patience);
  });

  assert.ok(end.letters.length > 0);
  assert.deepEqual([...new Set(end.letters.map(({ reason }) => reason))], ["retries-exhausted"]);
  told(context, verdict(end.sent, await numbersIn(server)));
});

interface Case {
  readonly server: HostilePostgresql;
  readonly trouble: Trouble;
  readonly kills?: number;
  /** Numbers of rows that the test dropped. */
  readonly gone?: readonly number[];
}

async function judged(context: TestContext, { server, trouble, kills: deaths = 0, gone = [] }: Case): Promise<void> {
  const folder = await tempFolder(context);
  const plan = {
    sink: server.sink,
    folder,
    kills: deaths,
    clients: { count: 8 },
    random: seeded(seed),
    trouble,
    patience,
  };

  const { sent, letters } = await killAgain(plan);

  assert.deepEqual(letters, []);
  told(context, verdict(sent, [...gone, ...(await numbersIn(server))]));
}

function told(context: TestContext, { accepted, ...faults }: ReturnType<typeof verdict>): void {
  context.diagnostic(`${accepted} notifications accepted`);
  assert.ok(accepted > 0);
  assert.deepEqual(faults, { lost: [], doubled: [], unknown: [] });
}

function endless(choice: readonly Mishap[]): Trouble {
  return mishaps(choice, Number.POSITIVE_INFINITY, seeded(seed + 1));
}

function lettersAt(management: string): () => Promise<number> {
  return async () => JSON.parse(await (await fetch(`${management}/v1/admin/deadletters?limit=0`)).text()).count;
}

async function numbersIn(server: HostilePostgresql): Promise<readonly number[]> {
  return (await server.query("select number from crash.room")).map(({ number }) => Number(number));
}
