import type { TestContext } from "node:test";
import pg from "pg";
import { startOwnPostgresql } from "../../support/own-postgresql.js";
import { postgresqlPrograms } from "../../support/postgresql-programs.js";

export const NO_PROGRAMS = "initdb and pg_ctl are not installed";

/** A PostgreSQL of the test alone, whose settings it may change, with a connection to it; undefined where its programs are not installed. */
export async function ownPostgresqlServer(context: TestContext) {
  const programs = await postgresqlPrograms();
  if (programs === undefined) return undefined;
  const server = await startOwnPostgresql(programs);
  context.after(() => server.stop());
  const { host, port, user } = server;
  const admin = new pg.Client({ host, port, user, database: "postgres" });
  // It ends with its server at the latest.
  admin.on("error", () => undefined);
  await admin.connect();
  return { host, port, user, admin };
}
