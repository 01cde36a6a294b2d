import assert from "node:assert/strict";
import type { Attribute } from "../../core/ngsi/index.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf } from "../plugins/rdb-sink/sinks.js";
import { v2Attribute, v2Entity, v2Event } from "../plugins/rdb-sink/v2-events.js";

const number = (name: string, value: number) => v2Attribute(name, "Number", value);
const both = { last_data_mode: "both", data_model: "dm-by-entity-type" } as const;

await onEveryDatabase("last data", [
  {
    name: "of a batch out of order the newest is kept, and an equal or older one changes nothing",
    service: "newest",
    run: async (place, service) => {
      const sink = await place.sink(both);
      const at = (later: number, p: number) => v2Event(v2Entity("car1", number("p", p)), service, { later });

      await persist(sink, at(0, 1), at(2, 2), at(1, 3));
      await persist(sink, at(2, 4), at(1, 5));
      const [first = {}] = await place.rows(service, "t_last_data");
      await persist(sink, at(3, 6));

      assert.equal((await place.rows(service, "t")).length, 6);
      assert.equal(first["p"], "2");
      assert.deepEqual(
        (await place.rows(service, "t_last_data")).map(({ p }) => p),
        ["6"],
      );
    },
  },
  {
    name: "attributes that a newer notification does not have keep their last value",
    service: "partial",
    run: async (place, service) => {
      const sink = await place.sink({ ...both, last_data_mode: "upsert" });

      await persist(sink, v2Event(v2Entity("car1", number("p", 1), number("q", 2)), service));
      await persist(sink, v2Event(v2Entity("car1", v2Attribute("p", "Number", undefined)), service, { later: 1 }));

      const [row = {}] = await place.rows(service, "t_last_data");
      assert.deepEqual([row["p"], row["q"]], [undefined, "2"]);
      await assert.rejects(place.rows(service, "t"));
    },
  },
  {
    name: "ids that differ in letter case only are two entities",
    service: "lettercase",
    run: async (place, service) => {
      const events = ["car1", "CAR1"].map((id) => v2Event(v2Entity(id, number("p", 1)), service));

      await persist(await place.sink(both), ...events);

      assert.equal((await place.rows(service, "t_last_data")).length, 2);
    },
  },
  {
    name: "alterationType entityDelete removes the entity and keeps its history",
    service: "removed",
    run: async (place, service) => {
      const sink = await place.sink(both);
      const gone = v2Attribute("alterationType", "Text", "entityDelete");

      await persist(
        sink,
        v2Event(v2Entity("car1", number("p", 1)), service),
        v2Event(v2Entity("car2", number("p", 1)), service),
      );
      await persist(sink, v2Event(v2Entity("car1", number("p", 2), gone), service, { later: 1 }));

      assert.deepEqual(
        (await place.rows(service, "t_last_data")).map(({ entityid }) => entityid),
        ["car2"],
      );
      assert.equal((await place.rows(service, "t")).length, 3);
    },
  },
  {
    name: "in the row layout each attribute has its last value, and a removed entity has none",
    service: "lastrows",
    run: async (place, service) => {
      const sink = await place.sink({ ...both, attr_persistence: "row" });
      const at = (later: number, id: string, ...attributes: readonly Attribute[]) =>
        v2Event(v2Entity(id, ...attributes), service, { later });
      const last = async () => {
        const rows = await place.rows(service, "t_last_data");
        return rows.map(({ entityid, attrname, attrvalue }) => `${entityid} ${attrname} ${attrvalue}`).sort();
      };

      await persist(sink, at(0, "car1", number("p", 1), number("q", 2)), at(0, "car2", number("p", 3)));
      await persist(sink, at(2, "car1", number("p", 4)), at(1, "car1", number("p", 5)));
      const before = await last();
      await persist(sink, at(3, "car1", v2Attribute("alterationType", "Text", "entityDelete")));

      assert.deepEqual(before, ["car1 p 4", "car1 q 2", "car2 p 3"]);
      assert.deepEqual(await last(), ["car2 p 3"]);
      assert.equal((await place.rows(service, "t")).length, 6);
    },
  },
  {
    name: "entities of NGSI-LD have last data too, by the time of an attribute and a key of two columns",
    service: "ldlast",
    run: async (place, service) => {
      const config = { ...both, last_data_timestamp_key: "seenAt", last_data_unique_key: ["entityId", "zone"] };
      const sink = await place.sink(config);
      const seen = (seenAt: string, zone: string, p: string) => eventOf(entity("e", { seenAt, zone, p }), service);

      await persist(sink, seen("2020-01-01T12:00:00Z", "a", "1"), seen("2020-01-01T12:00:00Z", "b", "2"));
      await persist(sink, seen("2020-01-01T11:59:59.999Z", "a", "3"), seen("2020-01-01T12:00:00.001Z", "b", "4"));

      const rows = await place.rows(service, "t_last_data");
      assert.deepEqual(rows.map(({ zone, p }) => `${zone}${p}`).sort(), ["a1", "b4"]);
    },
  },
  {
    name: "a value that did not fit its typed column leaves the column beside it when a newer one fits",
    service: "fitting",
    run: async (place, service) => {
      const sink = await place.sink({ ...both, attr_native_types: true });
      const at = (later: number, p: number | string) =>
        v2Event(v2Entity("car1", v2Attribute("p", "Number", p)), service, { later });

      for (const [later, p] of [1, "off", 3].entries()) await persist(sink, at(later, p));

      const [row = {}] = await place.rows(service, "t_last_data");
      assert.deepEqual([row["p"], row["p$json"]], ["3", undefined]);
    },
  },
  {
    name: "a text that is no time is refused permanently, and later values are stored",
    service: "notime",
    run: async (place, service) => {
      const sink = await place.sink({ ...both, last_data_timestamp_key: "ts" });
      const at = (id: string, ts: string, p: number) =>
        v2Event(v2Entity(id, v2Attribute("ts", "DateTime", ts), number("p", p)), service);

      await persist(sink, at("car1", "2026-01-01T00:00:00Z", 1));
      for (const id of ["car1", "car2"])
        for (const text of [
          "soon",
          "1767225600000",
          "2026-02-30T00:00:00Z",
          "2026-01-01T24:00:00Z",
          "20260101T000000Z",
          "2026-01-01T00:00:00+15:00",
        ])
          await assert.rejects(
            persist(sink, at(id, text, 2)),
            ({ code, retryable, message }) =>
              code === "LAST_DATA_INCOMPLETE" && !retryable && message.includes(`"${text}" in "ts" is no time`),
          );
      await persist(sink, at("car1", "2026-01-02T00:00:00Z", 3));
      await persist(sink, at("car2", "2026-01-02T00:00:00Z", 4));

      const rows = await place.rows(service, "t_last_data");
      assert.deepEqual(rows.map(({ p }) => p).sort(), ["3", "4"]);
    },
  },
  {
    name: "a time finer than a microsecond in a typed column is newer or older like any other",
    service: "finertimes",
    run: async (place, service) => {
      const sink = await place.sink({ ...both, attr_native_types: true, last_data_timestamp_key: "ts" });
      const at = (ts: string, p: number) =>
        v2Event(v2Entity("car1", v2Attribute("ts", "DateTime", ts), number("p", p)), service);

      await persist(sink, at("2026-01-01T00:00:00.100Z", 1));
      await persist(sink, at("2026-01-01T00:00:00.300000999Z", 2));
      await persist(sink, at("2026-01-01T00:00:00.200Z", 3), at("2026-01-01T00:00:00.200000001Z", 4));

      assert.deepEqual(
        (await place.rows(service, "t_last_data")).map(({ p }) => p),
        ["2"],
      );
    },
  },
  {
    name: "a value that does not fit the typed column of the time or the key is refused permanently, and later ones are stored",
    service: "unfit",
    run: async (place, service) => {
      const keys = { last_data_timestamp_key: "n", last_data_unique_key: ["k"] };
      const sink = await place.sink({ ...both, ...keys, attr_native_types: true });
      const at = (k: number | string, n: number | string) =>
        v2Event(v2Entity("car1", v2Attribute("k", "Number", k), v2Attribute("n", "Number", n)), service);

      await persist(sink, at(1, 1));
      // A key of MySQL is a text, and takes any.
      const hasTypedKey = place.database !== undefined || place.prefix === "";
      for (const [k, n, column] of [[1, "soon", "n"] as const, ...(hasTypedKey ? [["first", 2, "k"] as const] : [])])
        await assert.rejects(persist(sink, at(k, n)), {
          code: "LAST_DATA_INCOMPLETE",
          retryable: false,
          message: new RegExp(`"(soon|first)" does not fit column "${column}" of type number`),
        });
      await persist(sink, at(1, 3));

      assert.deepEqual(
        (await place.rows(service, "t_last_data")).map(({ k, n }) => [Number(k), Number(n)]),
        [[1, 3]],
      );
    },
  },
  {
    name: "an entity without the attribute of the key is refused permanently",
    service: "keyless",
    run: async (place, service) => {
      const sink = await place.sink({ ...both, last_data_unique_key: ["zone"] });

      const refused = persist(sink, v2Event(v2Entity("car1", number("p", 1)), service));

      await assert.rejects(refused, { code: "LAST_DATA_INCOMPLETE", retryable: false, message: /"zone"/ });
    },
  },
  {
    name: "rows are refused permanently where the table has the key of an earlier configuration, and stored once it has the key",
    service: "otherkey",
    run: async (place, service) => {
      const event = v2Event(v2Entity("car1", number("p", 1), number("q", 2)), service, { later: 1 });
      const before = { ...both, last_data_unique_key: ["entityId"] };
      await persist(await place.sink(before), v2Event(v2Entity("car1", number("p", 0)), service));

      for (const changed of [
        { last_data_unique_key: ["entityId", "entityType"] },
        { attr_persistence: "row" } as const,
      ])
        await assert.rejects(persist(await place.sink({ ...before, ...changed }), event), {
          code: "DATA_REFUSED",
          retryable: false,
          message: /no unique (?:key over|or exclusion constraint)/,
        });
      const [kept = {}] = await place.rows(service, "t_last_data");
      await persist(await place.sink(before), event);

      assert.equal(kept["p"], "0");
      assert.deepEqual(
        (await place.rows(service, "t_last_data")).map(({ p, q }) => [p, q]),
        [["1", "2"]],
      );
    },
  },
]);
