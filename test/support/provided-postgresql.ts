import pg from "pg";
import { startOwnPostgresql } from "./own-postgresql.js";
import { postgresqlPrograms } from "./postgresql-programs.js";
import { type ProvidedServer, where } from "./provided-server.js";

const REACH_TIMEOUT_MILLIS = 2000;

/**
 * The PostgreSQL that DENEB_TEST_PGHOST, _PGPORT, _PGUSER and _PGPASSWORD point to when it answers, else one of our own
 * from the programs installed here. The variables are set in `process.env`, which the test processes inherit.
 */
export function providedPostgresql(): ProvidedServer {
  const { DENEB_TEST_PGHOST, DENEB_TEST_PGPORT, DENEB_TEST_PGUSER, DENEB_TEST_PGPASSWORD } = process.env;
  const given = {
    host: DENEB_TEST_PGHOST ?? "127.0.0.1",
    port: Number(DENEB_TEST_PGPORT ?? 5432),
    user: DENEB_TEST_PGUSER ?? "postgres",
    password: DENEB_TEST_PGPASSWORD ?? "",
  };
  return {
    name: "PostgreSQL",
    where: where(given),
    answers: () => answers(given),
    missingPrograms: "initdb and pg_ctl",
    start: async () => {
      const programs = await postgresqlPrograms();
      return programs === undefined ? undefined : await startOwnPostgresql(programs);
    },
    announce: ({ host, port, user }) => {
      process.env["DENEB_TEST_PGHOST"] = host;
      process.env["DENEB_TEST_PGPORT"] = String(port);
      process.env["DENEB_TEST_PGUSER"] = user;
      process.env["DENEB_TEST_PGPASSWORD"] = "";
    },
  };
}

async function answers(address: pg.ClientConfig): Promise<boolean> {
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
