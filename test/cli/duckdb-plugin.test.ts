import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { reasonOf } from "../../core/sdk/index.js";
import { startAgent } from "../support/agent-process.js";
import { settledBooks } from "../support/channel-books.js";
import { type BuiltExample, builtExample, npm } from "../support/example-package.js";
import { httpAgent } from "../support/http-agent.js";
import { runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

/** Its package has a binary for each platform that it supports, and nothing on others. */
const missing = await import("@duckdb/node-api").then(
  () => undefined,
  (error: unknown) => reasonOf(error),
);
const skip = missing === undefined ? false : `DuckDB cannot be loaded: ${missing}`;

let example: BuiltExample | undefined;
before(async () => {
  if (skip === false) example = await builtExample("duckdb", "@duckdb");
});
after(() => example?.remove());

/** The folder of the example. */
function built(): string {
  assert.ok(example !== undefined, "the example was built");
  return example.folder;
}

test("the example in DuckDB passes its own tests: conformance suites and an agent", { skip }, async () => {
  const { code, output } = await npm(built(), "test");

  assert.equal(code, 0, output);
  assert.match(output, /fail 0/);
});

test("deneb sql reads what the example in DuckDB has stored, changes nothing and makes no file", {
  skip,
}, async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "entities.duckdb");
  const properties = httpAgent({
    channel: "memory",
    sink: "duckdb",
    lines: ["a.sinks.k.data_model = dm-by-entity-type", `a.sinks.k.file = ${file}`],
  });
  const flags = ["--config", path.join(folder, "agent.properties"), "--plugins", built()];
  const sql = (query: string) => runHere(["sql", query, ...flags]);
  const agent = await startAgent(context, { properties, folder, flags: ["--plugins", built()] });

  const empty = path.join(folder, "empty.properties");
  await writeFiles(folder, { "empty.properties": properties.replace("entities.duckdb", "none.duckdb") });
  const none = await runHere(["sql", "SELECT 1", "--config", empty, "--plugins", built()]);
  const data = [{ id: "urn:ngsi-ld:Room:1", type: "Room", level: { type: "Property", value: 7 } }];
  const answer = await fetch(agent.notifyUrl, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Fiware-Service": "openiot" },
    body: JSON.stringify({ id: "urn:ngsi-ld:Notification:1", type: "Notification", data }),
  });
  await settledBooks(agent);
  await agent.end("SIGTERM");

  assert.equal(answer.status, 200);
  assert.notEqual(none.code, 0);
  assert.equal(existsSync(path.join(folder, "none.duckdb")), false);
  for (const { query, says } of [
    { query: "DELETE FROM openiot.room", says: /DELETE changes data or the database; only queries are allowed/ },
    { query: "SELECT 1; DROP TABLE openiot.room", says: /a semicolon is allowed at the end only/ },
    { query: "WITH x AS (SELECT 1) DELETE FROM openiot.room", says: /read-only/ },
  ]) {
    const { code, stderr } = await sql(query);
    assert.notEqual(code, 0, query);
    assert.match(stderr, says);
  }
  const { code, stdout, stderr } = await sql("SELECT entityid, level FROM openiot.room;");
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^urn:ngsi-ld:Room:1 +7 *\n\(1 row\)/m);
});
