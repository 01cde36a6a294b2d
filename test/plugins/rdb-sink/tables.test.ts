import assert from "node:assert/strict";
import { test } from "node:test";
import { RecentMap } from "../../../plugins/rdb-sink/recent-map.js";
import { Tables } from "../../../plugins/rdb-sink/tables.js";

const name = (table: string) => ({ schema: "s", table });

test("columns are learned bit by bit and forgotten with their table", () => {
  const tables = new Tables();

  tables.learn(name("t"), ["a"]);
  tables.learn(name("t"), ["b"]);
  assert.deepEqual([...(tables.columns(name("t")) ?? [])], ["a", "b"]);

  tables.forget(name("t"));
  assert.equal(tables.columns(name("t")), undefined);
});

test("forgetting a table forgets its schema, which may be gone too", () => {
  const tables = new Tables();
  tables.learnSchema("s");

  tables.forget(name("t"));

  assert.equal(tables.hasSchema("s"), false);
});

test("tables with the same columns share one set", () => {
  const tables = new Tables();

  tables.learn(name("t"), ["a", "b"]);
  tables.learn(name("u"), ["b", "a"]);

  assert.equal(tables.columns(name("t")), tables.columns(name("u")));
});

test("a full map forgets what was not used for long and keeps what is in use", () => {
  const map = new RecentMap<number>(10);

  for (let index = 0; index < 100; index++) {
    map.set(`k${index}`, index);
    map.get("k0");
  }

  const kept = Array.from({ length: 100 }, (_, index) => `k${index}`).filter((key) => map.get(key) !== undefined);
  assert.ok(kept.length >= 10 && kept.length < 20, kept.join());
  assert.ok(kept.includes("k0") && kept.includes("k99"), kept.join());
});
