import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import Database from "libsql";
import { nameLimits } from "../../../core/ngsi/index.js";
import type { NameLimit } from "../../../core/ngsi/names/encoding.js";
import type { StoredData } from "../../../core/sdk/index.js";
import type { Store } from "../../../core/sql/contract/driver.js";
import { storedData } from "../../../core/sql/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { databases as kinds } from "../../../plugins/rdb-sink/databases.js";
import plugin from "../../../plugins/rdb-sink/index.js";
import { mysqlServer, type TestServer } from "../../support/mysql.js";
import { postgresqlDatabase, type TestDatabase } from "../../support/postgresql.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { configOf, type LoggingSink, never, onMysql, type SinkIdentity, sinkOf } from "./sinks.js";
import { standardStore } from "./standard-postgresql.js";

/** A row by column; undefined for NULL. */
export type StoredRow = Readonly<Record<string, string | undefined>>;

/** A database as the tests see it. */
export interface Place {
  /** Stands before each service, so that no schema meets that of somebody else. */
  readonly prefix: string;
  /** The database that the schemas are in; undefined where a schema is all there is. */
  readonly database?: string;
  /** The schema and name of the table that lists the tables of a schema. */
  registerOf(schema: string): readonly [string, string];
  /** The longest name. */
  readonly limit: NameLimit;
  /** A started sink that stops with the test. */
  sink(config?: Partial<RdbConfig>, now?: () => Date, of?: SinkIdentity): Promise<LoggingSink>;
  /** What commands do with the data of a sink of this configuration; closed with the test. */
  data(config?: Partial<RdbConfig>, of?: string | SinkIdentity, now?: () => Date): StoredData;
  /** In the order of arrival. */
  rows(schema: string, table: string): Promise<readonly StoredRow[]>;
  /** The rows of a query; `@` stands for the quoted table. */
  select(schema: string, table: string, text: string): Promise<readonly StoredRow[]>;
  /** Runs a statement as somebody else would; `@` stands for the quoted table. */
  alter(schema: string, table: string, text: string): Promise<void>;
  dropSchema(schema: string): Promise<void>;
  /** Schema and table of the positions kept with rows of this schema. */
  positions(schema: string): readonly [schema: string, table: string];
}

export interface TestedDatabase {
  readonly name: string;
  readonly skip: string | false;
  place(context: TestContext): Promise<Place>;
}

/** Every database the sink writes to; `drop` when the tests are over. */
export async function testedDatabases(): Promise<{ databases: readonly TestedDatabase[]; drop: () => Promise<void> }> {
  const server = await postgresqlDatabase();
  const postgresql = {
    name: "PostgreSQL",
    skip: server === undefined ? "PostgreSQL is not reachable" : false,
    place: async (context: TestContext) => {
      if (server === undefined) throw new Error("PostgreSQL is not reachable");
      return postgresqlPlace(context, server);
    },
  } as const;
  const other = await postgresqlDatabase();
  const standard = {
    name: "a standard dialect",
    skip: postgresql.skip,
    place: async (context: TestContext) => {
      if (other === undefined) throw new Error("PostgreSQL is not reachable");
      return standardPlace(context, other);
    },
  } as const;
  const mysqlTested = await mysqlServer();
  const mysql = {
    name: "MySQL",
    skip: mysqlTested === undefined ? "MySQL is not reachable" : false,
    place: async (context: TestContext) => {
      if (mysqlTested === undefined) throw new Error("MySQL is not reachable");
      return mysqlPlace(context, mysqlTested);
    },
  } as const;
  const sqlite = {
    name: "SQLite",
    skip: false,
    place: async (context: TestContext) => {
      const made: LoggingSink[] = [];
      // Hooks run in this order: a sink that sweeps must not write into a folder that is being removed.
      context.after(() => Promise.all(made.map(({ sink: one }) => one.stop(never))));
      const place = sqlitePlace(context, await tempFolder(context));
      const sink: Place["sink"] = async (...given) => {
        const one = await place.sink(...given);
        made.push(one);
        return one;
      };
      return { ...place, sink };
    },
  } as const;
  const drop = async () => {
    await server?.drop();
    await other?.drop();
    await mysqlTested?.drop();
  };
  return { databases: [postgresql, mysql, sqlite, standard], drop };
}

function postgresqlPlace(context: TestContext, { host, port, user, password, database, query }: TestDatabase): Place {
  const config = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: database };
  return {
    prefix: "",
    database,
    registerOf: () => ["deneb", "tables"],
    limit: nameLimits.postgresql,
    sink: (more, now, of) => started(context, sinkOf({ ...config, ...more }, now, undefined, of)),
    data: (more, of, now) => dataOf(context, { ...config, ...more }, { of, now }),
    // Space of a transaction that was rolled back is used again, so an address alone gives no order.
    rows: (schema, table) =>
      rowsOf(config, `SELECT * FROM ${quoted(schema)}.${quoted(table)} ORDER BY xmin::text::bigint, ctid`),
    select: (schema, table, text) =>
      rowsOf(
        config,
        text.replace("@", () => `${quoted(schema)}.${quoted(table)}`),
      ),
    alter: async (schema, table, text) => {
      await query(text.replace("@", () => `${quoted(schema)}.${quoted(table)}`));
    },
    dropSchema: async (schema) => {
      await query(`DROP SCHEMA ${quoted(schema)} CASCADE`);
    },
    positions: () => ["deneb", "positions"],
  };
}

/** PostgreSQL by what `deneb/sql` gives to others. */
function standardPlace(context: TestContext, server: TestDatabase): Place {
  // Its names follow the rules of SQLite, where a schema is all there is.
  const { database: _, ...place } = postgresqlPlace(context, server);
  return {
    ...place,
    sink: async (config, now, of) => await started(context, sinkOf(config ?? {}, now, standardStore(server), of)),
    data: (config, of, now) => dataOf(context, config ?? {}, { of, now, store: standardStore(server) }),
  };
}

/** Schemas are databases of a server that others use too, so each gets a prefix of its own. */
function mysqlPlace(context: TestContext, server: TestServer): Place {
  const { prefix, query } = server;
  // As the other databases do it, so that the same tests hold.
  const config: Partial<RdbConfig> = { ...onMysql(server), enable_lowercase: true };
  const ticked = (name: string) => `\`${name.replaceAll("`", "``")}\``;
  const path = (schema: string, table: string) => `${ticked(schema)}.${ticked(table)}`;
  return {
    prefix,
    registerOf: (schema) => [schema, "deneb_tables"],
    limit: nameLimits.mysql,
    sink: (more, now, of) => started(context, sinkOf({ ...config, ...more }, now, undefined, of)),
    data: (more, of, now) => dataOf(context, { ...config, ...more }, { of, now }),
    rows: (schema, table) => rowsOf(config, `SELECT * FROM ${path(schema, table)}`),
    select: (schema, table, text) =>
      rowsOf(
        config,
        text.replace("@", () => path(schema, table)),
      ),
    alter: async (schema, table, text) => {
      await query(text.replace("@", () => path(schema, table)));
    },
    dropSchema: async (schema) => {
      await query(`DROP DATABASE ${ticked(schema)}`);
    },
    positions: () => ["deneb", "deneb_positions"],
  };
}

function sqlitePlace(context: TestContext, folder: string): Place {
  const config = { rdb_dialect: "sqlite", rdb_folder: folder } as const;
  const path = (schema: string) => join(folder, `${schema}.db`);
  return {
    prefix: "",
    registerOf: (schema) => [schema, "deneb_tables"],
    limit: nameLimits.sqlite,
    sink: (more, now, of) => started(context, sinkOf({ ...config, ...more }, now, undefined, of)),
    data: (more, of, now) => dataOf(context, { ...config, ...more }, { of, now }),
    rows: (schema, table) => {
      // SQLite keeps these names for itself; the query attaches their files under others.
      const attached = schema === "main" || schema === "temp" ? `${schema}_` : schema;
      return rowsOf(config, `SELECT * FROM ${quoted(attached)}.${quoted(table)} ORDER BY _rowid_`);
    },
    select: (schema, table, text) =>
      rowsOf(
        config,
        text.replace("@", () => `${quoted(schema)}.${quoted(table)}`),
      ),
    alter: async (schema, table, text) => {
      const connection = new Database(path(schema));
      connection.exec(text.replace("@", () => quoted(table)));
      connection.close();
    },
    dropSchema: (schema) => rm(path(schema)),
    positions: (schema) => [schema, "deneb_positions"],
  };
}

async function started(context: TestContext, made: LoggingSink): Promise<LoggingSink> {
  context.after(() => made.sink.stop(never));
  await made.sink.start();
  return made;
}

interface DataParts {
  readonly of: string | SinkIdentity | undefined;
  readonly now: (() => Date) | undefined;
  readonly store?: Store;
}

function dataOf(
  context: TestContext,
  config: Partial<RdbConfig>,
  { of = "sink", now = () => new Date(0), store }: DataParts,
): StoredData {
  const full = configOf(config);
  const identity = typeof of === "string" ? { name: of } : of;
  const own = { name: "sink", ...identity, log: recordingLog().log, dataDir: "", run: "command", now };
  const data = storedData(full, own, store ?? kinds[full.rdb_dialect].open(full, own));
  context.after(() => data.close());
  return data;
}

async function rowsOf(config: Partial<RdbConfig>, text: string): Promise<readonly StoredRow[]> {
  const context = { name: "query", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  const result = await plugin.query?.(configOf(config), text, context);
  const columns = result?.columns ?? [];
  return (result?.rows ?? []).map((row) => Object.fromEntries(columns.map((column, index) => [column, row[index]])));
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
