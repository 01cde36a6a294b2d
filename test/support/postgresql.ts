import { randomBytes } from "node:crypto";
import pg from "pg";

/** A database of its own on the PostgreSQL of the tests. */
export interface TestDatabase {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** The rows as objects; every value as text, null for NULL. */
  query(
    text: string,
    parameters?: readonly (string | null)[],
  ): Promise<readonly Readonly<Record<string, string | null>>[]>;
  /** Removes the database, whoever is connected. */
  drop(): Promise<void>;
}

const REACH_TIMEOUT_MILLIS = 20_000;

/**
 * Makes a database on the server that DENEB_TEST_PGHOST, _PGPORT, _PGUSER and _PGPASSWORD name; undefined when no
 * server answers there.
 */
export async function postgresqlDatabase(): Promise<TestDatabase | undefined> {
  const server = serverOfTests();
  const admin = await reached({ ...server, database: "postgres" });
  if (admin === undefined) return undefined;

  const database = `deneb_test_${process.pid}_${randomBytes(4).toString("hex")}`;
  await admin.query(`CREATE DATABASE ${database}`);
  const client = new pg.Client({ ...server, database });
  await client.connect();
  return {
    ...server,
    database,
    query: async (text, parameters = []) => (await client.query({ text, values: [...parameters], types: asText })).rows,
    drop: async () => {
      await client.end();
      await admin.query(`DROP DATABASE ${database} WITH (FORCE)`);
      await admin.end();
    },
  };
}

/** The same with PostGIS, in a schema of its own if one is named; undefined when the server has no PostGIS either. */
export async function postgisDatabase(schema?: string): Promise<TestDatabase | undefined> {
  const database = await postgresqlDatabase();
  const available = await database?.query("SELECT 1 FROM pg_available_extensions WHERE name = 'postgis'");
  if (database === undefined || available?.length !== 1) {
    await database?.drop();
    return undefined;
  }
  if (schema !== undefined) await database.query(`CREATE SCHEMA ${schema}`);
  await database.query(`CREATE EXTENSION postgis ${schema === undefined ? "" : `SCHEMA ${schema}`}`);
  return database;
}

/** Why a test is skipped without it. */
export const NO_POSTGIS = "PostGIS is not available";

const asText = { getTypeParser: () => (value: string) => value };

/** Where the PostgreSQL of the tests is. */
export function serverOfTests() {
  const { DENEB_TEST_PGHOST, DENEB_TEST_PGPORT, DENEB_TEST_PGUSER, DENEB_TEST_PGPASSWORD } = process.env;
  return {
    host: DENEB_TEST_PGHOST ?? "127.0.0.1",
    port: Number(DENEB_TEST_PGPORT ?? 5432),
    user: DENEB_TEST_PGUSER ?? "postgres",
    password: DENEB_TEST_PGPASSWORD ?? "",
  };
}

async function reached(config: pg.ClientConfig): Promise<pg.Client | undefined> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: REACH_TIMEOUT_MILLIS });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return client;
  } catch {
    await client.end();
    return undefined;
  }
}

/** Whether a PostgreSQL, or a pooler in front of one, answers there. */
export async function answersPostgresql(address: pg.ClientConfig): Promise<boolean> {
  const client = new pg.Client({ ...address, database: "postgres", connectionTimeoutMillis: REACH_TIMEOUT_MILLIS });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
