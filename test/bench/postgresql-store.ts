import pg from "pg";
import type { BenchStore } from "./store.js";
import { deviceTable, freshName, sumOfTables } from "./tables-of-store.js";

const SERVICE = "bench";

/** Where the PostgreSQL of the tests is. */
export function postgresqlOfBench() {
  const { DENEB_TEST_PGHOST, DENEB_TEST_PGPORT, DENEB_TEST_PGUSER, DENEB_TEST_PGPASSWORD } = process.env;
  return {
    host: DENEB_TEST_PGHOST ?? "127.0.0.1",
    port: Number(DENEB_TEST_PGPORT ?? 5432),
    user: DENEB_TEST_PGUSER ?? "postgres",
    password: DENEB_TEST_PGPASSWORD ?? "",
  };
}

/** A database of its own on the PostgreSQL that the tests use. */
export async function postgresqlStore(): Promise<BenchStore> {
  const { reader, database, drop } = await postgresqlDatabase();
  const { host, port, user, password } = postgresqlOfBench();
  return {
    command: "postgres",
    service: SERVICE,
    properties: {
      rdb_host: host,
      rdb_port: String(port),
      rdb_database: database,
      rdb_username: user,
      rdb_password: password,
    },
    async countRows() {
      const tables = await reader.query(
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = '${SERVICE}'`,
      );
      const names = tables.rows.map(({ name }) => String(name));
      return await sumOfTables(names, async (sql) => Number((await reader.query(sql)).rows[0]?.c ?? 0));
    },
    async holds(entity, name) {
      try {
        const { rows } = await reader.query(`select 1 from ${SERVICE}.${deviceTable(entity)} where name = $1`, [name]);
        return rows.length > 0;
      } catch {
        return false; // The table comes with its first row.
      }
    },
    drop,
  };
}

/** An empty database with one connection to it. */
export async function postgresqlDatabase(): Promise<{
  readonly reader: pg.Client;
  readonly database: string;
  drop(): Promise<void>;
}> {
  const server = postgresqlOfBench();
  const admin = new pg.Client({ ...server, database: "postgres" });
  await admin.connect();
  const database = freshName();
  await admin.query(`create database ${database}`);
  const reader = new pg.Client({ ...server, database });
  await reader.connect();
  return {
    reader,
    database,
    async drop() {
      await reader.end();
      await admin.query(`drop database ${database} with (force)`);
      await admin.end();
    },
  };
}
