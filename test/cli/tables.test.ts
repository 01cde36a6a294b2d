import assert from "node:assert/strict";
import { test } from "node:test";
import { entity, eventOf, never, sinkOf } from "../plugins/rdb-sink/sinks.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

test("tables list shows the tables of the embedded database, as a table and as JSON, and refuses a name without a table", async (context) => {
  const folder = await tempFolder(context);
  const { sink } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder });
  await sink.persist({ events: [eventOf(entity("urn:a", { p: "1" }), "openiot")] }, never);
  await sink.stop(never);

  const shown = await runCli(["tables", "list", "--data-dir", folder]);
  const json = await runCli(["tables", "list", "--data-dir", folder, "--json", "--service", "openiot"]);

  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /^table +agent +sink +kind .*\nopeniot\.urn_a +sink +history .*\n\(1 table\)\n$/);
  const unknown = await runCli(["tables", "list", "openiot.urn_a", "nosuch", "--data-dir", folder]);
  assert.deepEqual([unknown.code, unknown.stdout], [2, ""]);
  assert.match(
    unknown.stderr,
    /^error: no sink has listed a table "nosuch"; give a name as deneb tables list prints it\n$/,
  );
  const parsed: unknown = JSON.parse(json.stdout);
  assert.ok(Array.isArray(parsed));
  assert.equal(parsed.length, 1);
});
