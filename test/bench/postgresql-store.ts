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

/**
 * A database of its own on the PostgreSQL that the tests use, or one that is there, whose rows of before do not count. The
 * tables of all services count: recorded notifications name their own.
 */
export async function postgresqlStore(named?: string): Promise<BenchStore> {
  const { reader, database, drop } = named === undefined ? await postgresqlDatabase() : await existing(named);
  const { host, port, user, password } = postgresqlOfBench();
  const rows = async () => {
    const tables = await reader.query(
      `select c.oid::regclass as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname !~ '^(pg_.*|information_schema|deneb)$' and c.relname !~ '^(deneb_.*|spatial_ref_sys)$'
       and c.relkind in ('r', 'p') and not c.relispartition`,
    );
    const names = tables.rows.map(({ name }) => String(name));
    return await sumOfTables(names, async (sql) => Number((await reader.query(sql)).rows[0]?.c ?? 0));
  };
  const before = await rows();
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
    countRows: async () => (await rows()) - before,
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

interface BenchDatabaseOfPostgresql {
  readonly reader: pg.Client;
  readonly database: string;
  drop(): Promise<void>;
}

async function existing(database: string): Promise<BenchDatabaseOfPostgresql> {
  const reader = new pg.Client({ ...postgresqlOfBench(), database });
  await reader.connect();
  return { reader, database, drop: async () => await reader.end() };
}

/** An empty database with one connection to it. */
export async function postgresqlDatabase(): Promise<BenchDatabaseOfPostgresql> {
  const server = postgresqlOfBench();
  const admin = new pg.Client({ ...server, database: "postgres" });
  await admin.connect();
  const database = freshName();
  await admin.query(`create database ${database}`);
  const reader = new pg.Client({ ...server, database });
  await reader.connect();
  const { rows } = await reader.query("select 1 from pg_available_extensions where name = 'postgis'");
  if (rows.length > 0) await reader.query("create extension postgis");
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
