import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import Database from "libsql";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import plugin from "../../../plugins/rdb-sink/index.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { configOf } from "./sinks.js";

const server = await postgresqlDatabase();
after(() => server?.drop());
const skip = server === undefined ? "PostgreSQL is not reachable" : false;

const onServer: Partial<RdbConfig> = {
  rdb_host: server?.host ?? "",
  rdb_port: server?.port ?? 0,
  rdb_username: server?.user ?? "",
  rdb_password: server?.password ?? "",
  rdb_database: server?.database ?? "",
};

function query(config: Partial<RdbConfig>, text: string) {
  const context = { name: "query", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  return plugin.query?.(configOf(config), text, context);
}

async function filesOf(folder: string, schemas: readonly string[]): Promise<Partial<RdbConfig>> {
  for (const schema of schemas) {
    const connection = new Database(join(folder, `${schema}.db`));
    connection.exec(`CREATE TABLE t (a text); INSERT INTO t VALUES ('${schema}')`);
    connection.close();
  }
  return { rdb_dialect: "sqlite", rdb_folder: folder };
}

test("PostgreSQL gives every value as text and NULL as undefined", { skip }, async () => {
  const result = await query(onServer, "SELECT 9007199254740993 AS a, true AS b, NULL AS c, 'x' AS a");

  assert.deepEqual(result, { columns: ["a", "b", "c", "a"], rows: [["9007199254740993", "t", undefined, "x"]] });
});

for (const text of ["CREATE TABLE t (a text)", "COMMIT; CREATE TABLE t (a text)", "SELECT 1; SELECT 2"])
  test(`PostgreSQL does not run "${text}"`, { skip }, async () => {
    await assert.rejects(async () => query(onServer, text));
  });

test("SQLite gives every value as text and NULL as undefined", async (context) => {
  const config = await filesOf(await tempFolder(context), ["s"]);

  const result = await query(config, "SELECT 9007199254740993 AS a, NULL AS b, a AS c FROM s.t");

  assert.deepEqual(result, { columns: ["a", "b", "c"], rows: [["9007199254740993", undefined, "s"]] });
});

for (const text of ["INSERT INTO s.t VALUES ('x')", "INSERT INTO s.t VALUES ('x') RETURNING a", "DROP TABLE s.t"])
  test(`SQLite does not run "${text}"`, async (context) => {
    const config = await filesOf(await tempFolder(context), ["s"]);

    await assert.rejects(async () => query(config, text));

    assert.deepEqual((await query(config, "SELECT * FROM s.t"))?.rows, [["s"]]);
  });

for (const text of [
  "SELECT 1; SELECT 2",
  "SELECT 1;SELECT 2;",
  "SELECT ';' /* ; */; -- a\nSELECT 2",
  "SELECT 'it''s'; /* */ x",
])
  test(`SQLite refuses ${JSON.stringify(text)} instead of running the first statement only`, async (context) => {
    const config = await filesOf(await tempFolder(context), ["s"]);

    await assert.rejects(async () => query(config, text), {
      code: "NOT_A_QUERY",
      message: `running "${text}": only one statement is allowed`,
    });
  });

for (const text of [
  "SELECT 'a;b'",
  "SELECT 'a;b';",
  "SELECT 'a;b' ; ; -- ; x",
  "SELECT 'a;b' AS \"a;b\" /* ; x */;\n",
  "SELECT 'a;b' -- a; b",
])
  test(`SQLite takes ${JSON.stringify(text)} for one statement`, async (context) => {
    const config = await filesOf(await tempFolder(context), ["s"]);

    assert.deepEqual((await query(config, text))?.rows, [["a;b"]]);
  });

test("of many SQLite files those are attached that the query names", async (context) => {
  const schemas = Array.from({ length: 15 }, (_, index) => `s${index}`);
  const config = await filesOf(await tempFolder(context), schemas);

  const result = await query(config, 'SELECT * FROM S14.t UNION ALL SELECT * FROM "s9" . t');

  assert.deepEqual(result?.rows, [["s14"], ["s9"]]);
});

test("a folder without SQLite files says so", async (context) => {
  const config = await filesOf(await tempFolder(context), []);

  await assert.rejects(async () => query(config, "SELECT 1"), {
    code: "NO_DATABASE_FILES",
    message: /there are none yet/,
  });
});
