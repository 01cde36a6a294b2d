import assert from "node:assert/strict";
import path from "node:path";
import { type TestContext, test } from "node:test";
import Database from "libsql";
import { postgresqlDatabase, type TestDatabase } from "../support/postgresql.js";
import { tempFolder } from "../support/temp-folder.js";
import { type CrashPlan, killAgain } from "./killed-agent.js";
import { kills, patience, promise, seed } from "./measure.js";
import { seeded } from "./seeded.js";
import { terminator } from "./terminator.js";
import { verdict } from "./verdict.js";

const survived = `killed ${kills} times under load, ${promise}`;

test(`${survived}, in PostgreSQL`, async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());

  await judged(context, sinkOf(database), () => numbersIn(database));
});

test(`${survived}, in PostgreSQL whose connections are terminated meanwhile`, async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());

  await judged(context, sinkOf(database), () => numbersIn(database), { trouble: terminator(database) });
});

test(`${survived}, in the embedded database`, async (context) => {
  const folder = await tempFolder(context);
  const read = async () => numbersInFile(path.join(folder, "crash.db"));

  await judged(context, { rdb_dialect: "sqlite", rdb_folder: folder }, read);
});

test(`${survived}, in several embedded databases that commit one after another`, async (context) => {
  const folder = await tempFolder(context);
  const services = ["one", "two", "three", "four", "five"];
  const read = async () => services.flatMap((service) => numbersInFile(path.join(folder, `${service}.db`)));

  await judged(context, { rdb_dialect: "sqlite", rdb_folder: folder }, read, { clients: { count: 8, services } });
});

const inTurn = {
  clients: { count: 8, services: ["one", "two", "three", "four", "five"] },
  lines: ["deneb.channels.c.fair_taking = true", "deneb.channels.c.service_percentage = 60"],
};

test(`${survived}, in the embedded database, the services in turn`, async (context) => {
  const folder = await tempFolder(context);
  const { services } = inTurn.clients;
  const read = async () => services.flatMap((service) => numbersInFile(path.join(folder, `${service}.db`)));

  await judged(context, { rdb_dialect: "sqlite", rdb_folder: folder }, read, inTurn);
});

test(`${survived}, in PostgreSQL, the services in turn`, async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  context.after(() => database.drop());
  const { services } = inTurn.clients;
  const read = async () => {
    const numbers: number[] = [];
    for (const service of services) numbers.push(...(await numbersIn(database, service)));
    return numbers;
  };

  await judged(context, sinkOf(database), read, inTurn);
});

async function judged(
  context: TestContext,
  sink: Readonly<Record<string, string>>,
  read: () => Promise<readonly number[]>,
  more: Pick<Partial<CrashPlan>, "clients" | "lines" | "trouble"> = {},
): Promise<void> {
  const folder = await tempFolder(context);
  const plan = { sink, folder, kills, clients: { count: 8 }, random: seeded(seed), patience, ...more };

  const { sent, letters } = await killAgain(plan);

  const { accepted, ...faults } = verdict(sent, await read());
  context.diagnostic(`${accepted} notifications accepted`);
  assert.ok(accepted > 0);
  assert.deepEqual(faults, { lost: [], doubled: [], unknown: [] });
  assert.deepEqual(letters, []);
}

function sinkOf({ host, port, user, password, database }: TestDatabase): Readonly<Record<string, string>> {
  return {
    rdb_host: host,
    rdb_port: String(port),
    rdb_username: user,
    rdb_password: password,
    rdb_database: database,
  };
}

function numbersInFile(file: string): readonly number[] {
  const database = new Database(file);
  const rows = database.prepare("select number from room").raw().all();
  database.close();
  return rows.map((row) => Number(Array.isArray(row) ? row[0] : Number.NaN));
}

async function numbersIn(database: TestDatabase, service = "crash"): Promise<readonly number[]> {
  const rows = await database.query(`select number from ${service}."room"`);
  return rows.map(({ number }) => Number(number));
}
