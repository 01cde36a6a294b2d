import assert from "node:assert/strict";
import { fixed, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf } from "../plugins/rdb-sink/sinks.js";

await onEveryDatabase("after somebody else changed the tables", [
  {
    name: "a dropped table is created again",
    service: "droppedtable",
    run: async (place, service) => {
      const sink = await place.sink();
      await persist(sink, eventOf(entity("d", { a: "1" }), service), eventOf(entity("e", { a: "1" }), service));
      await place.alter(service, "d", "DROP TABLE @");

      await persist(sink, eventOf(entity("d", { a: "2" }), service), eventOf(entity("e", { a: "2" }), service));

      assert.deepEqual(await place.rows(service, "d"), [{ ...fixed("d"), a: "2" }]);
      assert.equal((await place.rows(service, "e")).length, 2);
    },
  },
  {
    name: "a dropped column is created again",
    service: "droppedcolumn",
    run: async (place, service) => {
      const sink = await place.sink();
      await persist(sink, eventOf(entity("d", { a: "1", b: "1" }), service));
      await place.alter(service, "d", "ALTER TABLE @ DROP COLUMN b");

      await persist(sink, eventOf(entity("d", { a: "2", b: "2" }), service));

      assert.deepEqual(
        (await place.rows(service, "d")).map(({ b }) => b),
        [undefined, "2"],
      );
    },
  },
  {
    name: "a dropped schema is created again",
    service: "droppedschema",
    run: async (place, service) => {
      const sink = await place.sink();
      await persist(sink, eventOf(entity("d", { a: "1" }), service));
      await place.dropSchema(service);

      await persist(sink, eventOf(entity("d", { a: "2" }), service));

      assert.deepEqual(await place.rows(service, "d"), [{ ...fixed("d"), a: "2" }]);
    },
  },
  {
    name: "a table with more columns is used unchanged",
    service: "existing",
    run: async (place, service) => {
      await persist(await place.sink(), eventOf(entity("x", { a: "1" }), service));
      await place.alter(service, "x", "ALTER TABLE @ ADD COLUMN more text");

      await persist(await place.sink(), eventOf(entity("x", { a: "2" }), service));

      assert.deepEqual((await place.rows(service, "x"))[1], { ...fixed("x"), a: "2", more: undefined });
    },
  },
]);
