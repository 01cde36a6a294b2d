import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { createProgram } from "../../core/cli/program.js";
import { oneSinkLines } from "../crash/one-sink-lines.js";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { mysqlServer } from "../support/mysql.js";
import { postgresqlDatabase } from "../support/postgresql.js";
import { recordingTerminal } from "../support/recording-terminal.js";
import { type CliResult, runCli, runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));
const FIRST_ROWS = 100;

type Query = (text: string) => Promise<readonly Readonly<Record<string, string | null>>[]>;

interface Scene {
  readonly agent: AgentProcess;
  readonly folder: string;
  /** Writes a file of the same agent with other lines, which win. */
  file(...lines: readonly string[]): Promise<string>;
  readonly service: string;
  readonly query: Query;
  readonly table: string;
  /** The names for all tables of the sink: none where nobody else is there. */
  readonly ofAll: readonly string[];
}

const wanted = ["deneb.sinks.s.partition = day", "deneb.sinks.s.indexes = true"];

const places = {
  PostgreSQL: async (context: TestContext) => {
    const database = await postgresqlDatabase();
    if (database === undefined) return undefined;
    context.after(() => database.drop());
    const lines = oneSinkLines(database, "file");
    return await scene(context, { service: "svc", query: database.query, ofAll: [], lines });
  },
  MySQL: async (context: TestContext) => {
    const server = await mysqlServer();
    if (server === undefined) return undefined;
    context.after(() => server.drop());
    const service = `${server.prefix}svc`;
    const lines = [
      ...oneSinkLines({ ...server, database: service }, "file").filter((line) => !line.includes("rdb_options")),
      "deneb.sinks.s.rdb_dialect = mysql",
      "deneb.sinks.s.enable_lowercase = true",
      // The indexes of a plain table are on the beginning of a text.
      "deneb.sinks.s.indexes = true",
    ];
    // Sinks of other tests have the same name, and list their tables on the same server.
    return await scene(context, { service, query: server.query, ofAll: [`${service}.room`], lines });
  },
} as const;

async function scene(
  context: TestContext,
  { service, query, ofAll, lines }: Pick<Scene, "service" | "query" | "ofAll"> & { readonly lines: readonly string[] },
): Promise<Scene> {
  const folder = await tempFolder(context);
  const own = [...lines, "deneb.sinks.s.notification_columns = sequence"];
  const agent = await startAgent(context, { properties: merged(own), folder });
  let files = 0;
  const file = async (...more: readonly string[]) => {
    files += 1;
    const name = path.join(folder, `other${files}.properties`);
    await writeFile(name, merged([...own, ...more]));
    return name;
  };
  return { agent, file, folder, service, query, table: `${service}.room`, ofAll };
}

function merged(lines: readonly string[]): string {
  return [...new Map(lines.map((line) => [line.split("=")[0]?.trim(), line])).values()].join("\n");
}

/** Stores numbered rows, one after another, until they are ended; resolves to the last number. */
function storing({ agent, service }: Scene): { readonly stored: () => number; end(): Promise<number> } {
  let number = 0;
  let ending = false;
  const loop = (async () => {
    while (!ending) {
      number += 1;
      const response = await fetch(agent.notifyUrl, {
        method: "POST",
        headers: { "Content-Type": "application/json", "Fiware-Service": service },
        body: JSON.stringify({
          type: "Notification",
          subscriptionId: "urn:s:1",
          data: [{ id: "urn:room:1", type: "Room", number: { type: "Property", value: number } }],
        }),
      });
      await response.arrayBuffer();
      assert.equal(response.status, 200);
      // A stream of rows is wanted, not a load.
      await pause(5);
    }
  })();
  return {
    stored: () => number,
    end: async () => {
      ending = true;
      await loop;
      return number;
    },
  };
}

async function moreRows({ stored }: ReturnType<typeof storing>, count: number): Promise<void> {
  const wanted = stored() + count;
  while (stored() < wanted) await pause(5);
}

async function numbers({ query, table }: Scene): Promise<readonly number[]> {
  const rows = await query(`SELECT number FROM ${table} ORDER BY sequence`);
  return rows.map(({ number }) => Number(number));
}

const counting = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

const words = ({ folder }: Scene, file: string) => [
  ...["tables", "partition", "--config", file],
  ...["--data-dir", path.join(folder, "data"), "--json"],
];

async function partition(made: Scene, ...more: readonly string[]): Promise<CliResult> {
  const named = more.some((word) => word.includes(".")) ? [] : made.ofAll;
  return await runHere([...words(made, await made.file(...wanted)), ...more, ...named]);
}

/** Ends the command by SIGKILL after a while. */
async function killed(made: Scene, milliseconds: number): Promise<void> {
  const child = spawn(process.execPath, [main, ...words(made, await made.file(...wanted)), "--yes"], {
    stdio: "ignore",
  });
  const exited = once(child, "exit");
  await Promise.race([pause(milliseconds), exited]);
  child.kill("SIGKILL");
  await exited;
}

function outcomes({ stdout }: CliResult): readonly string[] {
  const parsed: unknown = JSON.parse(stdout === "" ? "[]" : stdout);
  return Array.isArray(parsed) ? parsed.map(({ outcome }) => String(outcome)) : [];
}

/** Until some rows are there, and the table with them. */
async function settled({ query, table }: Scene): Promise<void> {
  const count = async () => Number((await query(`SELECT count(*) AS n FROM ${table}`).catch(() => []))[0]?.["n"] ?? 0);
  await until(count, (found) => found >= FIRST_ROWS);
}

for (const [name, place] of Object.entries(places)) {
  test(`a table in ${name} is checked, converted with its indexes and checked again while an agent stores`, async (context) => {
    const made = await place(context);
    if (made === undefined) return context.skip(`${name} is not reachable`);
    const { query, service } = made;
    const writer = storing(made);
    await moreRows(writer, FIRST_ROWS);
    await settled(made);
    await query(`CREATE TABLE ${service}.theirs (recvtime text, entityid text, entitytype text)`);
    await query(`INSERT INTO ${service}.theirs VALUES ('2020-05-13', 'e', 'T')`);

    const checked = await partition(made);
    const before = await numbers(made);
    const converted = await partition(made, "--yes");
    await moreRows(writer, 50);
    const again = await partition(made, "--yes");
    const foreign = await partition(made, "--yes", `${service}.theirs`);
    const last = await writer.end();
    await settledBooks(made.agent);

    assert.deepEqual(outcomes(checked), ["done"], checked.stderr);
    assert.deepEqual(before, counting(before.length));
    assert.deepEqual(outcomes(converted), ["done"], converted.stdout);
    assert.deepEqual(outcomes(again), ["unchanged"], again.stdout);
    assert.deepEqual([foreign.code, outcomes(foreign)], [1, ["refused"]]);
    assert.match(foreign.stdout, /this sink has not listed it/);
    assert.deepEqual(await numbers(made), counting(last));
    assert.ok((await partitionsOf(made, "room")) > 1);
    assert.equal(await partitionsOf(made, "theirs"), 0);
    assert.equal((await query(`SELECT * FROM ${service}.theirs`)).length, 1);
    assert.deepEqual(await indexesOf(made), ["deneb_room_entity", "deneb_room_time"]);
  });

  test(`a conversion in ${name} that is killed at any moment, and two at once, lose and double no row`, async (context) => {
    const made = await place(context);
    if (made === undefined) return context.skip(`${name} is not reachable`);
    const writer = storing(made);
    await moreRows(writer, FIRST_ROWS);
    await settled(made);

    for (const milliseconds of [400, 600, 800, 1100]) await killed(made, milliseconds);
    const file = await made.file(...wanted);
    const yes = [...words(made, file), "--yes", ...made.ofAll];
    const both = await Promise.all([runCli(yes), runCli(yes)]);
    const ended = await partition(made, "--yes");
    const last = await writer.end();
    await settledBooks(made.agent);

    assert.ok(["done", "unchanged"].includes(outcomes(ended).join()), ended.stdout);
    assert.equal(
      both.every(({ stderr }) => stderr === ""),
      true,
    );
    assert.deepEqual(await numbers(made), counting(last));
    assert.ok((await partitionsOf(made, "room")) > 1);
    assert.deepEqual(await indexesOf(made), ["deneb_room_entity", "deneb_room_time"]);
  });
}

test("without the right to alter a table the command says whose it is, and indexes are added to a partitioned one", async (context) => {
  const made = await places.PostgreSQL(context);
  if (made === undefined) return context.skip("PostgreSQL is not reachable");
  const { query } = made;
  const writer = storing(made);
  await moreRows(writer, FIRST_ROWS);
  await settled(made);
  await writer.end();
  await settledBooks(made.agent);
  const role = `deneb_reader_${process.pid}`;
  await query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`);
  await query(`GRANT USAGE ON SCHEMA svc, deneb TO ${role}`);
  await query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA svc, deneb TO ${role}`);
  const reader = await made.file(
    ...wanted,
    `deneb.sinks.s.rdb_username = ${role}`,
    "deneb.sinks.s.rdb_password = secret",
  );
  const withoutIndexes = await made.file(...wanted, "deneb.sinks.s.indexes = false");

  const refused = await runHere([...words(made, reader), "--yes"]);
  await query(`DROP OWNED BY ${role}`);
  await query(`DROP ROLE ${role}`);
  const without = await runHere([...words(made, withoutIndexes), "--yes"]);
  const none = await indexesOf(made);
  const added = await partition(made, "--yes");

  assert.deepEqual([refused.code, outcomes(refused)], [1, ["refused"]], refused.stderr);
  assert.match(refused.stdout, /another user owns it/);
  assert.deepEqual([outcomes(without), none], [["done"], []], without.stdout);
  assert.deepEqual(outcomes(added), ["done"], added.stdout);
  assert.deepEqual(await indexesOf(made), ["deneb_room_entity", "deneb_room_time"]);
});

test("a command that is stopped while it waits for a table says so", async (context) => {
  const made = await places.PostgreSQL(context);
  if (made === undefined) return context.skip("PostgreSQL is not reachable");
  const writer = storing(made);
  await moreRows(writer, FIRST_ROWS);
  await settled(made);
  await writer.end();
  await settledBooks(made.agent);
  const stopping = new AbortController();
  const { terminal, out, err } = recordingTerminal();
  await made.query("BEGIN");
  await made.query(`LOCK TABLE ${made.table}`);

  const args = [...words(made, await made.file(...wanted)), "--yes"];
  const code = createProgram({ ...terminal, stopRequested: stopping.signal }).run(args);
  const waiting = () => made.query(`SELECT FROM pg_locks WHERE relation = '${made.table}'::regclass AND NOT granted`);
  await until(waiting, ({ length }) => length > 0);
  stopping.abort();

  assert.deepEqual([await code, out, err], [1, [], ["deneb: stopped before it was done; what was done stays"]]);
  await made.query("ROLLBACK");
});

async function partitionsOf({ query, service }: Scene, table: string): Promise<number> {
  const [row] = await query(
    service === "svc"
      ? `SELECT count(*) AS n FROM pg_inherits WHERE inhparent = '${service}.${table}'::regclass`
      : `SELECT count(partition_name) AS n FROM information_schema.partitions
         WHERE table_schema = '${service}' AND table_name = '${table}'`,
  );
  return Number(row?.["n"]);
}

/** Those that queries can use. */
async function indexesOf({ query, service }: Scene): Promise<readonly string[]> {
  const rows = await query(
    service === "svc"
      ? `SELECT c.relname AS name FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid
         WHERE x.indisvalid AND x.indrelid = 'svc.room'::regclass ORDER BY 1`
      : `SELECT DISTINCT index_name AS name FROM information_schema.statistics
         WHERE table_schema = '${service}' AND table_name = 'room' ORDER BY 1`,
  );
  return rows.map(({ name }) => name ?? "");
}
