import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import test from "node:test";
import pg from "pg";
import { startOwnPostgresql } from "../support/own-postgresql.js";
import { NO_POSTGIS } from "../support/postgresql.js";
import { postgresqlPrograms } from "../support/postgresql-programs.js";
import { repositoryRoot } from "../support/repository.js";
import { tempFolder } from "../support/temp-folder.js";
import { tool, without } from "./tool.js";

const script = path.join(repositoryRoot, "deploy", "compose", "postgresql", "users.sh");
const programs = await postgresqlPrograms();
const skip = programs === undefined ? "PostgreSQL is not installed" : await without(["psql"]);

test("the users of the compose file are made once: deneb makes schemas, grafana reads them only", {
  skip,
}, async (t) => {
  assert.ok(programs !== undefined);
  const secrets = await tempFolder(t);
  // A password is data, whatever characters it has.
  await writeFile(path.join(secrets, "deneb-password"), "a'b\\c; --");
  await writeFile(path.join(secrets, "grafana-reader-password"), "reader");
  const server = await startOwnPostgresql(programs);
  t.after(() => server.stop());
  const query = (user: string, text: string) => queried({ ...server, user, database: "history" }, text);
  await queried({ ...server, user: "postgres", database: "postgres" }, "CREATE DATABASE history");
  const postgis = await query("postgres", "SELECT 1 FROM pg_available_extensions WHERE name = 'postgis'");
  if (postgis.length === 0) return t.skip(NO_POSTGIS);

  const place = { PGHOST: server.host, PGPORT: String(server.port), POSTGRES_DB: "history", SECRETS: secrets };
  await tool("sh", [script], { env: place });

  await query("deneb", "CREATE SCHEMA openiot");
  await query("deneb", "CREATE TABLE openiot.room AS SELECT 21.5 AS temperature, 'POINT(1 2)'::geometry AS location");
  assert.equal((await query("grafana", "SELECT temperature FROM openiot.room")).length, 1);
  await assert.rejects(query("grafana", "DELETE FROM openiot.room"), /permission denied/);
  await assert.rejects(query("deneb", "CREATE ROLE other"), /permission denied/);
  const [stored] = await query("postgres", "SELECT rolpassword FROM pg_authid WHERE rolname = 'deneb'");
  assert.match(String(stored?.["rolpassword"]), /^SCRAM-SHA-256\$/);
});

async function queried(config: pg.ClientConfig, text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = new pg.Client(config);
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
