import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import Database from "libsql";
import { command } from "../support/command.js";
import { httpAgent } from "../support/http-agent.js";
import { mysqlServer } from "../support/mysql.js";
import { postgresqlDatabase } from "../support/postgresql.js";
import { tempFolder } from "../support/temp-folder.js";

const changing = [
  "delete from t",
  "  DELETE FROM t where a = 1;",
  "/* * select */ -- select\n update t set a = 2",
  "(insert into t values (2))",
  "drop table t",
  "TRUNCATE t",
  "create table u (a int)",
] as const;

for (const text of changing)
  test(`deneb sql says of ${JSON.stringify(text)} that only queries are allowed, before it looks for a database`, async () => {
    const { exitCode, out, err } = await command(["sql", text, "--data-dir", "no-such-folder"]);

    assert.deepEqual([exitCode, out], [2, ""]);
    assert.ok(err.startsWith(`error: running ${JSON.stringify(text).slice(0, 4)}`), err);
    assert.match(err, /[A-Z]+ changes data or the database; only queries are allowed, such as select/);
  });

interface Store {
  /** What goes into the properties file. */
  readonly lines: readonly string[];
  readonly select: string;
  /** Statements that only the database knows to be none of reading. */
  readonly hidden: readonly string[];
}

type Prepared = (context: TestContext, dataDir: string) => Promise<Store | undefined>;

const stores: Readonly<Record<string, Prepared>> = {
  sqlite: async (_context, dataDir) => {
    const database = new Database(path.join(dataDir, "mine.db"));
    database.exec("create table t (a int); insert into t values (1)");
    database.close();
    const hidden = ["with x as (select 1) delete from mine.t", "with x as (select 1) delete from mine.t returning a"];
    return { lines: ["rdb_dialect = sqlite"], select: "select count(*) as n from mine.t", hidden };
  },
  PostgreSQL: async (context) => {
    const database = await postgresqlDatabase();
    if (database === undefined) return undefined;
    context.after(() => database.drop());
    await database.query("create table t (a int)");
    await database.query("insert into t values (1)");
    const { host, port, user, password } = database;
    const hidden = ["with d as (delete from t returning a) select * from d", "explain analyze delete from t"];
    return {
      lines: [...server({ host, port, user, password }), `rdb_database = ${database.database}`],
      select: select("t"),
      hidden,
    };
  },
  MySQL: async (context) => {
    const database = await mysqlServer();
    if (database === undefined) return undefined;
    context.after(() => database.drop());
    const name = `${database.prefix}a`;
    await database.query(`create database ${name}`);
    await database.query(`create table ${name}.t (a int)`);
    await database.query(`insert into ${name}.t values (1)`);
    const [{ version = "" } = {}] = await database.query("select version() as version");
    // Each has its own word for running what is explained.
    const word = version?.includes("MariaDB") ? "analyze format=json" : "explain analyze";
    await database.query(`create table ${name}.u (a int)`);
    const hidden = [
      `${word} delete ${name}.t from ${name}.t join ${name}.u on t.a = u.a`,
      // A read-only transaction takes these.
      "set global max_connect_errors = @@global.max_connect_errors",
      "/*! set global max_connect_errors = @@global.max_connect_errors, @a = */ (select 1)",
      "flush status",
      `analyze table ${name}.t`,
      "handler t open",
      "select 1 into @a",
    ];
    return { lines: [...server(database), "rdb_dialect = mysql"], select: select(`${name}.t`), hidden };
  },
};

for (const [name, prepare] of Object.entries(stores))
  test(`a query of ${name} is answered, and a change that looks like one is refused as no query`, async (context) => {
    const folder = await tempFolder(context);
    const store = await prepare(context, folder);
    if (store === undefined) return context.skip(`no ${name.toLowerCase()} server answers`);
    const config = path.join(folder, "agent.properties");
    await writeFile(
      config,
      httpAgent({ channel: "memory", sink: "rdb", lines: store.lines.map((line) => `a.sinks.k.${line}`) }),
    );
    const ask = (text: string) => command(["sql", text, "--config", config, "--data-dir", folder]);

    for (const text of store.hidden) {
      const { exitCode, err } = await ask(text);
      assert.equal(exitCode, 1);
      assert.match(
        err,
        /^deneb: running ".*": it (?:changes data, and only queries are|is no query; only reading is) allowed/,
      );
    }
    const several = await ask(`${store.select}; ${store.select}`);
    assert.equal(several.exitCode, 1);
    assert.equal(several.out, "");
    assert.match((await ask(store.select)).out, /^n\n1\n\(1 row\)$/);
  });

interface Server {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

function server({ host, port, user, password }: Server): readonly string[] {
  return [
    `rdb_host = ${host}`,
    `rdb_port = ${port}`,
    `rdb_username = ${user}`,
    ...(password === "" ? [] : [`rdb_password = ${password}`]),
  ];
}

function select(table: string): string {
  return `select count(*) as n from ${table}`;
}
