import assert from "node:assert/strict";
import { test } from "node:test";
import type { Dialect } from "../../core/sql/contract/dialect.js";
import { RecentMap } from "../../core/sql/contract/recent-map.js";
import { fitted } from "../../core/sql/tables/fitting.js";
import { type KnownColumns, Tables } from "../../core/sql/tables/known-tables.js";
import { mysql } from "../../plugins/rdb-sink/mysql/dialect.js";
import { postgresql } from "../../plugins/rdb-sink/postgresql/dialect.js";

const schema = { database: "", schema: "s" } as const;
const name = (table: string) => ({ ...schema, table });
const text = (...names: readonly string[]) => names.map((column) => ({ name: column, kind: "text" }) as const);
const newTables = () => new Tables((column) => column.toLowerCase());

test("columns are added one by one and dropped with their table", () => {
  const tables = newTables();

  tables.learn(name("t"), text("A"));
  tables.learn(name("t"), [{ name: "b", kind: "time" }]);
  assert.deepEqual(
    [...(tables.columns(name("t")) ?? [])],
    [
      ["a", "text"],
      ["b", "time"],
    ],
  );

  tables.forget(name("t"));
  assert.equal(tables.columns(name("t")), undefined);
});

test("a number of columns that the database refused a table is asked for again after a minute", () => {
  const tables = newTables();
  tables.noteTooWide(name("t"), 40, 1000);

  const limits = [1000, 60_999, 61_000].map((now) => tables.mostColumns(name("t"), now));
  const ofAnother = tables.mostColumns(name("u"), 1000);

  assert.deepEqual(limits, [39, 39, Number.POSITIVE_INFINITY]);
  assert.equal(ofAnother, Number.POSITIVE_INFINITY);
});

test("forgetting a table forgets its schema, which may not exist either", () => {
  const tables = newTables();
  tables.learnSchema(schema);

  tables.forget(name("t"));

  assert.equal(tables.hasSchema(schema), false);
});

test("tables with the same columns share one set", () => {
  const tables = newTables();

  tables.learn(name("t"), text("a", "b"));
  tables.learn(name("u"), text("b", "a"));

  assert.equal(tables.columns(name("t")), tables.columns(name("u")));
});

test("a full map drops what was not used recently and keeps what is in use", () => {
  const map = new RecentMap<number>(10);

  for (let index = 0; index < 100; index++) {
    map.set(`k${index}`, index);
    map.get("k0");
  }

  const kept = Array.from({ length: 100 }, (_, index) => `k${index}`).filter((key) => map.get(key) !== undefined);
  assert.ok(kept.length >= 10 && kept.length < 20, kept.join());
  assert.ok(kept.includes("k0") && kept.includes("k99"), kept.join());
});

test("columns are compared again when their table has others, and by the rules of the dialect", () => {
  const columns = ["A", "b"];
  const batch = { name: name("t"), subject: "t", key: [], columns, rows: [], native: new Set<string>(), placed: [] };
  const lacking = (known: KnownColumns | undefined, dialect: Dialect) => {
    const naming = { database: dialect.database, lowercase: false };
    const fitting = { dialect, naming, nativeTypes: false };
    return fitted({ ...batch, values: () => [], valuesOf: () => [] }, known, fitting).lacking.map(
      (column) => column.name,
    );
  };
  const both = new Map([
    ["a", "text"],
    ["b", "text"],
  ] as const);

  assert.deepEqual(lacking(undefined, postgresql), ["A", "b"]);
  assert.deepEqual(lacking(new Map([["b", "text"]] as const), postgresql), ["A"]);
  assert.deepEqual(lacking(both, mysql), []);
  assert.deepEqual(lacking(both, postgresql), ["A"]);
});
