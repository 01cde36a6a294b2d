import assert from "node:assert/strict";
import { after, test } from "node:test";
import { testedDatabases } from "./databases.js";
import { persist } from "./on-every-database.js";
import { entity, eventOf, never } from "./sinks.js";

const { databases, drop } = await testedDatabases();
after(drop);

/** What has a table keep its rows without an error. */
const keeping: Readonly<Record<string, string>> = {
  PostgreSQL: "CREATE RULE keep AS ON DELETE TO @ DO INSTEAD NOTHING",
  SQLite: "CREATE TRIGGER keep BEFORE DELETE ON @ BEGIN SELECT RAISE(IGNORE); END",
};

for (const database of databases.filter(({ name }) => keeping[name] !== undefined)) {
  const { name, skip } = database;
  test(`${name}: rows that the table keeps are left by an erasure, and not counted as erased`, {
    skip,
  }, async (context) => {
    const byType = { data_model: "dm-by-entity-type" } as const;
    const place = await database.place(context);
    const sink = await place.sink(byType, undefined, { name: "keeper" });
    await persist(sink, ...["a", "a", "b"].map((id) => eventOf(entity(id, { p: "1" }), "keeper")));
    await place.alter("keeper", "t", keeping[name] ?? "");

    const erasure = await place.data(byType, "keeper").erase?.({ entity: "a" }, false, never);

    assert.deepEqual(erasure?.erased, []);
    const reasons = erasure?.left.map(({ reason }) => reason);
    assert.deepEqual(reasons, ["its rows are still there: a trigger, a rule or row security of the table keeps them"]);
    assert.equal((await place.rows("keeper", "t")).length, 3);
  });

  test(`${name}: a warning names a table that keeps its old rows, and the check of the others goes on`, {
    skip,
  }, async (context) => {
    const place = await database.place(context);
    const writer = await place.sink({}, undefined, { name: "oldkeeper" });
    await persist(writer, eventOf(entity("a", { p: "1" }), "oldkeeper"), eventOf(entity("b", { p: "1" }), "oldkeeper"));
    await place.alter("oldkeeper", "a", keeping[name] ?? "");

    const config = { "persistence_policy.expiration_time": 3600 } as const;
    const later = () => new Date("2020-05-14T14:46:21.918Z");
    const { sink, lines } = await place.sink(config, later, { name: "oldkeeper" });
    await sink.sweep();

    const said = lines.filter(({ message }) => message === "old rows not deleted, will be tried again");
    assert.match(JSON.stringify(said), /still there: a trigger, a rule or row security of the table keeps them/);
    assert.deepEqual(
      [(await place.rows("oldkeeper", "a")).length, (await place.rows("oldkeeper", "b")).length],
      [1, 0],
    );
  });
}
