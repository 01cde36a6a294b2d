import pg from "pg";

/** Where the rows of a case go, as a reader sees it. */
export interface BenchStore {
  /** Properties of the sink that point the agent to it. */
  readonly properties: Readonly<Record<string, string>>;
  countRows(): Promise<number>;
  /** Whether the entity has a row with this value of the attribute `name`. */
  holds(entity: number, name: string): Promise<boolean>;
  /** Name of the server's processes, for their CPU time; undefined for an embedded database. */
  readonly command: string | undefined;
  drop(): Promise<void>;
}

const EVERY_ROW = `
  select coalesce(sum((xpath('/row/c/text()',
    query_to_xml(format('select count(*) as c from %I.%I', schemaname, tablename), false, true, '')))[1]::text::bigint), 0)
  from pg_tables where schemaname = 'bench'`;

/** A database of its own on the PostgreSQL that the tests use. */
export async function postgresqlStore(): Promise<BenchStore> {
  const { DENEB_TEST_PGHOST, DENEB_TEST_PGPORT, DENEB_TEST_PGUSER, DENEB_TEST_PGPASSWORD } = process.env;
  const host = DENEB_TEST_PGHOST ?? "127.0.0.1";
  const port = Number(DENEB_TEST_PGPORT ?? 5432);
  const user = DENEB_TEST_PGUSER ?? "postgres";
  const password = DENEB_TEST_PGPASSWORD ?? "";
  const admin = new pg.Client({ host, port, user, password, database: "postgres" });
  await admin.connect();
  const database = `deneb_bench_${process.pid}_${Date.now()}`;
  await admin.query(`create database ${database}`);
  const reader = new pg.Client({ host, port, user, password, database });
  await reader.connect();
  return {
    command: "postgres",
    properties: {
      rdb_host: host,
      rdb_port: String(port),
      rdb_database: database,
      rdb_username: user,
      rdb_password: password,
    },
    async countRows() {
      const { rows } = await reader.query({ text: EVERY_ROW, rowMode: "array" });
      return Number(rows[0]?.[0] ?? 0);
    },
    async holds(entity, name) {
      const table = `bench.urn_ngsi_ld_device_bench_${entity}`;
      try {
        const { rows } = await reader.query(`select 1 from ${table} where name = $1`, [name]);
        return rows.length > 0;
      } catch {
        return false; // The table comes with its first row.
      }
    },
    async drop() {
      await reader.end();
      await admin.query(`drop database ${database} with (force)`);
      await admin.end();
    },
  };
}
