import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentMap } from "../../core/sql/contract/recent-map.js";
import { Tables } from "../../core/sql/tables/known-store.js";

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
