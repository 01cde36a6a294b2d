import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { mysqlServer, type TestServer } from "../support/mysql.js";
import { type MysqlPrograms, mysqlPrograms } from "../support/mysql-programs.js";
import { startOwnMysql } from "../support/own-mysql.js";
import { postgresqlDatabase, type TestDatabase } from "../support/postgresql.js";
import type { OwnServer } from "../support/provided-server.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { changeOfYear, clockOf, endOf, type PartitionedRow, partitionOf } from "./change-of-year.js";
import { killAgain } from "./killed-agent.js";
import { kills, patience, seed } from "./measure.js";
import { seeded } from "./seeded.js";
import { verdict } from "./verdict.js";

const DAY = 86_400_000;
const DATABASE = "crash";

interface Written {
  readonly sink: Readonly<Record<string, string>>;
  readonly partition: "day" | "month";
  readonly typed: boolean;
  /** Whether a partition takes the times of its period and no others. */
  readonly isExact: boolean;
  readonly rows: () => Promise<readonly PartitionedRow[]>;
}

const cases = [
  { partition: "day", typed: false },
  { partition: "month", typed: true },
] as const;

for (const { partition, typed } of cases) {
  const rows = `late and early rows over a change of year, killed ${kills} times, ${typed ? "typed times" : "times as text"}`;
  const each = `each is once in the partition of its ${partition}, and only old partitions are dropped`;

  test(`${rows}: ${each}, in PostgreSQL with a session east of UTC`, async (context) => {
    const database = await postgresqlDatabase();
    if (database === undefined) return context.skip("PostgreSQL is not reachable");
    context.after(() => database.drop());
    // Half past five, and abbreviations that the server reads as those of other places.
    await database.query(`ALTER DATABASE ${database.database} SET TimeZone = 'Asia/Kolkata'`);
    await database.query(`ALTER DATABASE ${database.database} SET DateStyle = 'SQL, DMY'`);

    await judged(context, {
      partition,
      typed,
      sink: inPostgresql(database),
      isExact: true,
      rows: () => rowsOf(database),
    });
  });

  test(`${rows}: ${each}, in MySQL with sessions west of UTC`, async (context) => {
    const programs = await mysqlPrograms();
    if (programs === undefined)
      return context.skip("a MySQL of its own takes mariadb-install-db and mariadbd, which are not installed");
    const server = await mysqlWestOfUtc(context, programs);

    const sink = {
      rdb_dialect: "mysql",
      rdb_host: server.host,
      rdb_port: String(server.port),
      rdb_username: server.user,
      rdb_password: "",
      enable_lowercase: "true",
    };
    await judged(context, { partition, typed, sink, isExact: false, rows: () => rowsInMysql(server) });
  });
}

async function judged(context: TestContext, { sink, partition, typed, rows, isExact }: Written): Promise<void> {
  const folder = await tempFolder(context);
  const year = changeOfYear(new Date());
  const age = (now: number) => now - year.retentionDays * DAY;
  const begin = age(Date.now());
  const { flags, lines } = await clockOf(folder, year);
  const own = {
    partition,
    retention_days: String(year.retentionDays),
    "persistence_policy.checking_time": "1",
    attr_native_types: String(typed),
    indexes: "true",
  };
  const plan = { folder, kills, clients: { count: 8 }, random: seeded(seed), patience, flags, lines };

  const { sent, letters } = await killAgain({ ...plan, sink: { ...sink, ...own } }, async () => {
    const old = async () => (await rows()).filter((row) => endOf(row.partition, partition) <= begin).length;
    await until(old, (count) => count === 0, patience);
  });

  const oldest = age(Date.now());
  const found = await rows();
  const numbers = found.map(({ number }) => number);
  const { accepted, lost, doubled, unknown } = verdict(sent, numbers);
  context.diagnostic(`${accepted} notifications accepted, ${lost.length} of them in dropped partitions`);
  const homeOf = (number: number) => partitionOf(year.timeOf(number), partition);
  const isOld = (number: number) => endOf(homeOf(number), partition) <= oldest;
  const wrong = found.filter((row) => !row.partition.endsWith(homeOf(row.number)));
  assert.ok([...sent.accepted].some(isOld), "some were old");
  assert.ok(
    numbers.some((number) => !isOld(number)),
    "some were young",
  );
  assert.deepEqual(
    { youngLost: lost.filter((number) => !isOld(number)), doubled, unknown, letters },
    { youngLost: [], doubled: [], unknown: [], letters: [] },
  );
  // In MySQL the first partition takes what is older, and others have no beginning either.
  const tolerated = (row: PartitionedRow) =>
    !isExact && endOf(homeOf(row.number), partition) <= endOf(row.partition, partition);
  assert.deepEqual(
    wrong.filter((row) => !tolerated(row)),
    [],
  );
}

function inPostgresql({ host, port, user, password, database }: TestDatabase): Readonly<Record<string, string>> {
  return {
    rdb_host: host,
    rdb_port: String(port),
    rdb_username: user,
    rdb_password: password,
    rdb_database: database,
  };
}

async function rowsOf(database: TestDatabase): Promise<readonly PartitionedRow[]> {
  const found = await database.query(
    `SELECT number, c.relname FROM ${DATABASE}.room r JOIN pg_class c ON c.oid = r.tableoid`,
  );
  return found.map(({ number, relname }) => ({ number: Number(number), partition: relname ?? "" }));
}

/** Of the tests of this file. */
let west: OwnServer | undefined;
after(() => west?.stop());

async function mysqlWestOfUtc(context: TestContext, programs: MysqlPrograms): Promise<TestServer> {
  west ??= await startOwnMysql(programs, ["--default-time-zone=-03:30"]);
  const server = await mysqlServer({ host: west.host, port: west.port, user: west.user, password: "" });
  if (server === undefined) throw new Error("the MariaDB of the test went away");
  context.after(async () => {
    for (const name of [DATABASE, "deneb"]) await server.query(`DROP DATABASE IF EXISTS ${name}`);
    await server.drop();
  });
  return server;
}

/** Begun with again while partitions are dropped between their names and their rows: MySQL has no name of its partition beside a row. */
async function rowsInMysql(server: TestServer): Promise<readonly PartitionedRow[]> {
  const look = () => rowsByPartition(server).catch(ignoreDropped);
  return (await until(look, (rows) => rows !== undefined, patience)) ?? [];
}

function ignoreDropped(error: unknown): undefined {
  if ((error as { readonly code?: unknown }).code !== "ER_UNKNOWN_PARTITION") throw error;
}

async function rowsByPartition(server: TestServer): Promise<readonly PartitionedRow[]> {
  const rows: PartitionedRow[] = [];
  const names = await server.query(`
    SELECT partition_name AS name FROM information_schema.partitions
    WHERE table_schema = '${DATABASE}' AND table_name = 'room'`);
  for (const { name } of names) {
    const found = await server.query(`SELECT number FROM ${DATABASE}.room PARTITION (\`${name}\`)`);
    rows.push(...found.map(({ number }) => ({ number: Number(number), partition: name ?? "" })));
  }
  return rows;
}
