import assert from "node:assert/strict";
import { shorten } from "../../core/ngsi/index.js";
import { fixed, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { attribute, entity, eventOf, receivedAt } from "../plugins/rdb-sink/sinks.js";

await onEveryDatabase("names", [
  {
    name: "quotes and SQL are kept in values and names",
    service: "quotes",
    run: async (place, service) => {
      const values = { "it's": "it's", 'a"b': "x'),('a','b','c','d", "$1; --": "\\ \n é 😀 ?", select: "" };

      await persist(await place.sink(), eventOf(entity("'; DROP TABLE x; --", values), service));

      assert.deepEqual(await place.rows(service, "___drop_table_x____"), [
        { ...fixed("'; DROP TABLE x; --"), ...values },
      ]);
    },
  },
  {
    name: "names that map to one column lose nothing",
    service: "collisions",
    run: async (place, service) => {
      const body = entity("c", { Temp: "1", temp: "2", recvTime: "3", entityid: "4", ctid: "5", rowid: "6" });

      await persist(await place.sink(), eventOf(body, service));

      const [row = {}] = await place.rows(service, "c");
      assert.equal(row["temp"], "2");
      assert.equal(row["recvtime"], receivedAt);
      assert.deepEqual(Object.values(row).sort(), [receivedAt, "c", "T", "1", "2", "3", "4", "5", "6"].sort());
    },
  },
  {
    name: "names that are too long are shortened and stay apart",
    service: "long",
    run: async (place, service) => {
      const id = `urn:${"i".repeat(100)}`;
      const names = [`${"é".repeat(60)}1`, `${"é".repeat(60)}2`] as const;

      await persist(await place.sink(), eventOf(entity(id, { [names[0]]: "1", [names[1]]: "2" }), service));

      const [row = {}] = await place.rows(service, shorten(`urn_${"i".repeat(100)}`, place.limit));
      assert.deepEqual(row, {
        ...fixed(id),
        [shorten(names[0], place.limit)]: "1",
        [shorten(names[1], place.limit)]: "2",
      });
    },
  },
  {
    name: "a name that is too long keeps its column beside one that differs in letter case only",
    service: "longcase",
    run: async (place, service) => {
      const sink = await place.sink();
      const lower = "n".repeat(70);
      const rivals = {
        [lower.toUpperCase()]: "1",
        [lower]: "2",
        [shorten(`${lower}x`, place.limit)]: "3",
        [`${lower}x`]: "4",
      };

      await persist(sink, eventOf(entity("c", rivals), service));
      await persist(sink, eventOf(entity("c", { [lower]: "5" }), service));

      const rows = await place.rows(service, "c");
      assert.deepEqual(
        rows.map((row) => row[shorten(lower, place.limit)]),
        ["2", "5"],
      );
      assert.deepEqual(Object.values(rows[0] ?? {}).sort(), [receivedAt, "c", "T", "1", "2", "3", "4"].sort());
      assert.equal(rows[0]?.[shorten(`${lower}x`, place.limit)], "3");
    },
  },
  {
    name: "entity types get the tables in dm-by-entity-type",
    service: "bytype",
    run: async (place, service) => {
      const sink = await place.sink({ data_model: "DMByEntityType" });

      await persist(sink, eventOf(entity("1", { a: "x" }), service), eventOf(entity("2", { a: "y" }), service));

      assert.deepEqual(
        (await place.rows(service, "t")).map(({ entityid }) => entityid),
        ["1", "2"],
      );
    },
  },
  {
    name: "members of attributes get columns of their own",
    service: "members",
    run: async (place, service) => {
      const body = {
        ...entity("m", {}),
        attributes: [attribute("T", "1", { unitCode: "CEL" }), attribute("t_unitcode", "2")],
      };

      await persist(await place.sink(), eventOf(body, service));

      const [row = {}] = await place.rows(service, "m");
      assert.equal(row["t_unitcode"], "2");
      assert.deepEqual(Object.values(row).slice(3), ["1", "CEL", "2"]);
    },
  },
  {
    name: "a table name that the database reserves gets another table",
    service: "reserved",
    run: async (place, service) => {
      await persist(await place.sink(), eventOf(entity("sqlite:x", { a: "1" }), service));

      const tables = await Promise.allSettled(["sqlite_x", "_sqlite_x"].map((table) => place.rows(service, table)));
      assert.equal(tables.filter(({ status }) => status === "fulfilled").length, 1);
    },
  },
]);
