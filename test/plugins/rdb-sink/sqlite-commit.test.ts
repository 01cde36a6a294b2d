import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import Database from "libsql";
import { sqliteQuery } from "../../../plugins/rdb-sink/sqlite/database.js";
import { tempFolder } from "../../support/temp-folder.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

test("what one file has committed is not stored again when the batch is repeated for another", async (context) => {
  const folder = await tempFolder(context);
  const { sink } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder });
  context.after(() => sink.stop(never));
  const second = new Database(join(folder, "second.db"));
  context.after(() => second.close());
  // A rule that SQLite checks no sooner than at the commit.
  second.exec(`CREATE TABLE allowed (a text PRIMARY KEY);
    CREATE TABLE e (recvtime text, entityid text, entitytype text, a text REFERENCES allowed (a) DEFERRABLE INITIALLY DEFERRED)`);
  const batch = { events: ["first", "second"].map((schema) => eventOf(entity("e", { a: "1" }), schema)) };

  await assert.rejects(sink.persist(batch, never), { code: "DATA_REFUSED", retryable: false });
  second.exec("INSERT INTO allowed VALUES ('1')");
  await sink.persist(batch, never);

  for (const schema of ["first", "second"])
    assert.deepEqual((await sqliteQuery(folder, `SELECT a FROM ${schema}.e`)).rows, [["1"]], schema);
});
