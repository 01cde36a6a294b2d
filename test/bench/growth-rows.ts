import pg from "pg";
import type { GrowthCase } from "./growth-case.js";
import type { GrowthStep } from "./growth-step.js";
import type { MeasureOptions } from "./measure.js";
import { postEach } from "./post.js";
import { postgresqlOfBench } from "./postgresql-store.js";
import { requestsOf } from "./requests.js";
import { reaches } from "./rows.js";
import { type SystemUnderTest, startSystem } from "./systems.js";
import { unwinding } from "./unwinding.js";

/** Seconds between two rows of the history that a table is filled with. */
const STEP_SECONDS = 30;

/** Fills the tables of all entities with rows of the time before, then writes to them and asks for the last day of each. */
export async function measureRows(growth: GrowthCase, options: MeasureOptions): Promise<readonly GrowthStep[]> {
  const system = await startSystem(growth.bench);
  return await unwinding(system.stop, async () => {
    const reader = new pg.Client({ ...postgresqlOfBench(), database: system.store?.properties["rdb_database"] });
    await reader.connect();
    try {
      return await measureStarted(growth, { system, reader }, options);
    } finally {
      await reader.end();
    }
  });
}

interface Started {
  readonly system: SystemUnderTest;
  readonly reader: pg.Client;
}

async function measureStarted(
  { bench: { bodies }, size }: GrowthCase,
  { system, reader }: Started,
  { generator, seconds, connections }: MeasureOptions,
): Promise<readonly GrowthStep[]> {
  const { notifyUrl: url, service, ledger } = system;
  if (ledger === undefined) throw new Error("rows are stored by an agent only");
  const stored = async () => (await ledger()).stored;
  const settled = async () => await reaches("events stored", stored, async () => (await ledger()).received);
  await postEach({ url, requests: requestsOf(bodies, service), connections });
  await settled();
  const tables = await tablesOf(reader, service);
  const filling = await timed(async () => {
    for (const table of tables) await fill(reader, table, Math.ceil(size / tables.length));
    await reader.query("vacuum analyze");
    await reader.query("checkpoint");
  });

  const before = await stored();
  const load = await generator({ url, service, bodies, seconds, connections });
  await settled();
  const loading = (Date.now() - load.startedAt) / 1000;
  const asking = await timed(async () => {
    for (const table of tables) await reader.query(lastDay(table));
  });
  return [
    { work: "rows that were there before", units: size, seconds: filling },
    { work: "events stored", units: (await stored()) - before, seconds: loading },
    { work: "last day of one entity", units: tables.length, seconds: asking },
  ];
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** The tables of the service, as they are written in a statement. */
async function tablesOf(reader: pg.Client, schema: string): Promise<readonly string[]> {
  const text = "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1";
  const { rows } = await reader.query(text, [schema]);
  return rows.map(({ name }) => String(name));
}

/** Rows like the first one, one every {@link STEP_SECONDS} until now, oldest first. */
async function fill(reader: pg.Client, table: string, rows: number): Promise<void> {
  const { fields } = await reader.query(`select * from ${table} limit 0`);
  const time = `to_char(now() - n * interval '${STEP_SECONDS} s', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  const values = fields.map(({ name }) => (name === "recvtime" ? time : `"${name}"`));
  await reader.query(
    `insert into ${table} (${fields.map(({ name }) => `"${name}"`).join(", ")})
     select ${values.join(", ")} from (select * from ${table} limit 1) one, generate_series(${rows}, 1, -1) n`,
  );
}

/** As an operator asks for it, the column being text. */
function lastDay(table: string): string {
  const since = `to_char(now() - interval '1 day', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
  return `select * from ${table} where recvtime >= ${since} order by recvtime`;
}
