import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, test } from "node:test";
import Database from "libsql";
import { startAgent } from "../support/agent-process.js";
import { builtExample, exampleFolder } from "../support/example-package.js";
import { httpAgent } from "../support/http-agent.js";
import { repositoryRoot } from "../support/repository.js";
import { runHere } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

const built = await builtExample("one-file", "libsql");
after(built.remove);

test("the page about SQL sinks shows the files of the example, word for word", async () => {
  const page = await readFile(path.join(repositoryRoot, "docs", "plugins", "sql-sink.md"), "utf8");
  const blocks = [...page.matchAll(/^`([a-z.-]+\.ts)`[^\n]*:\n\n```ts\n(.*?)^```$/gms)];

  assert.equal(blocks.length, 6);
  for (const [, name = "", text] of blocks)
    assert.equal(text, await readFile(path.join(exampleFolder("one-file"), name), "utf8"), name);
});

test("plugin test runs the suites over the example", async () => {
  const { code, stdout } = await runHere(["plugin", "test", built.folder]);

  assert.equal(code, 0, stdout);
  assert.match(stdout, /^sink one-file: \d\d passed, 0 failed$/m);
});

const properties = (folder: string, ...more: readonly string[]) =>
  httpAgent({
    channel: "memory",
    sink: "one-file",
    lines: [`a.sinks.k.file = ${path.join(folder, "entities.db")}`, ...more],
  });

test("an agent with the example creates tables, columns and last data in its file, and explains them", async (context) => {
  const folder = await tempFolder(context);
  const text = properties(folder, "a.sinks.k.last_data_mode = both", "a.sinks.k.attr_native_types = true");
  const agent = await startAgent(context, { properties: text, folder, flags: ["--plugins", built.folder] });
  const notification = (value: object) =>
    JSON.stringify({ id: "urn:n:1", type: "Notification", data: [{ id: "Room:1", type: "Room", ...value }] });
  const post = async (value: object) => {
    const headers = { "Content-Type": "application/json", "Fiware-Service": "OpenIoT" };
    const answer = await fetch(agent.notifyUrl, { method: "POST", headers, body: notification(value) });
    assert.equal(answer.status, 200);
  };

  await post({ level: { type: "Property", value: 1 } });
  await post({ level: { type: "Property", value: 2 }, unit: { type: "Property", value: "bar" } });
  const code = await agent.end("SIGTERM");
  await writeFiles(folder, { "note.json": notification({ level: { type: "Property", value: 3 } }) });
  const flags = ["--config", path.join(folder, "agent.properties"), "--plugins", built.folder];
  const explained = await runHere(["explain", ...flags, "--header", "Fiware-Service: OpenIoT", `${folder}/note.json`]);

  const exported = await runHere(["export", ...flags, "--table", "openiot.room_1", "--format", "ndjson"]);
  const queried = await runHere(["sql", 'SELECT level FROM "openiot:room_1"', ...flags]);

  assert.equal(code, 0);
  assert.deepEqual([exported.code, exported.stdout.match(/"level":/g)?.length], [0, 2], exported.stderr);
  assert.deepEqual([queried.code, queried.stdout.match(/^[12]\b/gm)], [0, ["1", "2"]], queried.stderr);
  const file = new Database(path.join(folder, "entities.db"));
  const rows = (table: string) => file.prepare(`SELECT level, unit FROM "openiot:${table}"`).raw().all();
  assert.deepEqual(rows("room_1"), [
    [1, null],
    [2, "bar"],
  ]);
  assert.deepEqual(rows("room_1_last_data"), [[2, "bar"]]);
  file.close();
  assert.match(explained.stdout, /CREATE TABLE IF NOT EXISTS "openiot:room_1" .*"level" double/);
});

test("a fault of its properties is reported like that of any sink", async (context) => {
  const folder = await tempFolder(context);
  const text = properties(folder, "a.sinks.k.data_model = dm-by-entity-database");
  await writeFiles(folder, { "agent.properties": text });

  const flags = ["--config", path.join(folder, "agent.properties"), "--plugins", built.folder];
  const { code, stderr } = await runHere(["check", ...flags]);

  assert.notEqual(code, 0);
  assert.match(stderr, /"dm-by-entity-database" needs a server with several databases, .* use dm-by-entity/);
});
