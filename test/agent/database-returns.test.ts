import assert from "node:assert/strict";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { startOwnPostgresql } from "../support/own-postgresql.js";
import { postgresqlPrograms } from "../support/postgresql-programs.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const programs = await postgresqlPrograms();
const skip = programs === undefined ? "initdb and pg_ctl are not installed" : false;

function properties(port: number): string {
  const lines = ["a.sinks.k.rdb_host = 127.0.0.1", `a.sinks.k.rdb_port = ${port}`];
  return httpAgent({ channel: "memory", sink: "rdb", lines });
}

test("a database that is away at the start and comes back later is a line in the log, without any event", {
  skip,
}, async (context) => {
  if (programs === undefined) return;
  const server = await startOwnPostgresql(programs);
  context.after(() => server.stop());
  await server.halt();
  const agent = await startAgent(context, { properties: properties(server.port), folder: await tempFolder(context) });
  const messages = () => agent.lines.map(({ msg }) => msg);
  assert.ok(messages().includes("the database is unavailable; writes will be retried"));
  assert.ok(!messages().includes("the database can be used again"));

  await server.resume();

  await until(
    async () => messages(),
    (lines) => lines.includes("the database can be used again"),
  );
  await agent.end("SIGTERM");
  assert.equal(messages().filter((line) => line === "the database can be used again").length, 1);
});
