import assert from "node:assert/strict";
import { test } from "node:test";
import { namingOf } from "../../core/sql/contract/schema.js";
import { ChangedTables } from "../../core/sql/tables/changed-tables.js";
import { Tables } from "../../core/sql/tables/known-tables.js";
import { databases } from "../../plugins/rdb-sink/databases.js";
import { configOf } from "../plugins/rdb-sink/sinks.js";
import { recordingLog } from "../support/recording-log.js";

const never = new AbortController().signal;
const name = (table: string) => ({ database: "", schema: "s", table });

/** Tables `a` and `b` with one column of text each, and a database that has them so until it is changed. */
function twoTables() {
  const config = configOf({});
  const { log } = recordingLog();
  const clock = { millis: 0 };
  const opened = databases.postgresql.open(config, { name: "s", log, dataDir: "", run: "run", now: () => new Date(0) });
  const types: Record<string, string> = { a: "text", b: "text" };
  let queries = 0;
  const read = async () => {
    queries += 1;
    return Object.entries(types).map(([table, type]) => ["", "s", table, "c", type]);
  };
  const tables = new Tables((column) => column);
  for (const table of ["a", "b"]) tables.learn(name(table), [{ name: "c", kind: "text" }]);
  const store = {
    ...opened,
    driver: { ...opened.driver, read },
    naming: namingOf(config, "postgresql"),
    nativeTypes: false,
    tables,
    log,
  };
  return { changed: new ChangedTables(store, () => clock.millis), types, clock, queries: () => queries };
}

test("a table whose values are refused again and again is looked up once a second", async () => {
  const { changed, clock, queries } = twoTables();

  for (const at of [0, 1, 500, 1000]) {
    clock.millis = at;
    assert.equal(await changed.areAmong([name("a")], never), false);
  }
  assert.equal(queries(), 1);
  assert.equal(await changed.areAmong([name("a"), name("b")], never), false, "the other table is due");
  assert.equal(queries(), 2);
});

test("a change of a column is seen at the next look", async () => {
  const { changed, types, clock } = twoTables();

  assert.equal(await changed.areAmong([name("a"), name("b")], never), false);
  types["b"] = "jsonb";
  assert.equal(await changed.areAmong([name("a"), name("b")], never), false, "not within a second");
  clock.millis = 1001;

  assert.equal(await changed.areAmong([name("b")], never), true);
});
