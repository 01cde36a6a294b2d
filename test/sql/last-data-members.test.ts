import assert from "node:assert/strict";
import type { Event } from "../../core/sdk/index.js";
import type { Place, StoredRow } from "../plugins/rdb-sink/databases.js";
import { ldEvent } from "../plugins/rdb-sink/ld-events.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";

const both = { last_data_mode: "both", data_model: "dm-by-entity-type" } as const;

const celsius = { type: "Property", value: 21, unitCode: "CEL", observedAt: "2026-01-01T12:00:00Z" } as const;
const property = (value: unknown) => ({ type: "Property", value }) as const;

async function last(place: Place, service: string): Promise<StoredRow> {
  const [row = {}] = await place.rows(service, "t_last_data");
  return row;
}

/** The values of these columns; undefined also for a column that the table does not have. */
const values = (row: StoredRow, ...columns: readonly string[]) => columns.map((column) => row[column]);

await onEveryDatabase("members in last data", [
  {
    name: "an attribute empties the members that it does not have any more, and no others",
    service: "lost",
    run: async (place, service) => {
      const sink = await place.sink(both);
      const humidity = { type: "Property", value: 40, unitCode: "P1" };

      await persist(sink, ldEvent("e", { temperature: celsius, humidity }, service));
      await persist(sink, ldEvent("e", { temperature: property(5) }, service, 1));

      const row = await last(place, service);
      assert.deepEqual(values(row, "temperature", "temperature_unitcode", "temperature_observedat"), [
        "5",
        undefined,
        undefined,
      ]);
      assert.deepEqual(values(row, "humidity", "humidity_unitcode"), ["40", "P1"]);
    },
  },
  {
    name: "an older notification empties nothing",
    service: "older",
    run: async (place, service) => {
      const sink = await place.sink(both);

      await persist(sink, ldEvent("e", { temperature: celsius }, service, 1));
      await persist(sink, ldEvent("e", { temperature: property(5) }, service, 0));
      await persist(sink, ldEvent("e", { temperature: property(6) }, service, 1));

      assert.deepEqual(values(await last(place, service), "temperature", "temperature_unitcode"), ["21", "CEL"]);
    },
  },
  {
    name: "in one batch each entity has its own members, in the order of arrival",
    service: "batch",
    run: async (place, service) => {
      const sink = await place.sink(both);
      const at = (id: string, temperature: unknown, later: number) => ldEvent(id, { temperature }, service, later);

      await persist(sink, at("a", celsius, 0), at("b", celsius, 0), at("a", property(5), 1), at("c", property(7), 1));
      await persist(sink, at("b", property(6), 2), at("c", celsius, 2));

      const rows = await place.rows(service, "t_last_data");
      const units = rows.map((row) => values(row, "entityid", "temperature", "temperature_unitcode"));
      assert.deepEqual(units.sort(), [
        ["a", "5", undefined],
        ["b", "6", undefined],
        ["c", "21", "CEL"],
      ]);
    },
  },
  {
    name: "an attribute that is named like a member keeps its value, also after a restart",
    service: "alike",
    run: async (place, service) => {
      const first = await place.sink(both);
      await persist(first, ldEvent("e", { temperature: celsius, temperature_unitCode: property("own") }, service));
      await persist(first, ldEvent("f", { temperature: celsius }, service));

      const second = await place.sink(both);
      await persist(second, ldEvent("e", { temperature: property(5) }, service, 1));
      await persist(second, ldEvent("f", { temperature: property(6) }, service, 1));

      const rows = await place.rows(service, "t_last_data");
      const of = (id: string) => rows.find((row) => row["entityid"] === id) ?? {};
      assert.deepEqual(values(of("f"), "temperature", "temperature_unitcode"), ["6", undefined]);
      assert.deepEqual(values(of("e"), "temperature", "temperature_observedat"), ["5", undefined]);
      assert.ok(Object.values(of("e")).includes("own"));
      assert.ok(!Object.values(of("e")).includes("CEL"));
    },
  },
  {
    name: "a column that an attribute took over from a member is not emptied with the member",
    service: "taken",
    run: async (place, service) => {
      const sink = await place.sink(both);

      await persist(sink, ldEvent("e", { a: { type: "Property", value: 1, b_c: property(2) } }, service));
      await persist(sink, ldEvent("e", { a_b: { type: "Property", value: 3, c: property(4) } }, service, 1));
      await persist(sink, ldEvent("e", { a: property(5) }, service, 2));
      const kept = await last(place, service);
      await persist(sink, ldEvent("e", { a_b_c: property(6) }, service, 3));
      await persist(sink, ldEvent("e", { a: property(7), a_b: property(8) }, service, 4));

      assert.deepEqual(values(kept, "a", "a_b", "a_b_c"), ["5", "3", "4"]);
      assert.deepEqual(values(await last(place, service), "a", "a_b", "a_b_c"), ["7", "8", "6"]);
    },
  },
  {
    name: "a second agent empties members of columns that it did not make, a minute after they were made",
    service: "agents",
    run: async (place, service) => {
      let minutes = 0;
      const now = () => new Date(minutes * 60_000);
      const one = await place.sink(both, now, { name: "one" });
      const other = await place.sink(both, now, { name: "other" });

      await persist(other, ldEvent("e", { temperature: property(1) }, service, 0));
      await persist(one, ldEvent("e", { temperature: celsius }, service, 1));
      minutes = 1;
      await persist(other, ldEvent("e", { temperature: property(5) }, service, 2));

      assert.deepEqual(values(await last(place, service), "temperature", "temperature_unitcode"), ["5", undefined]);
    },
  },
  {
    name: "members of attributes with long, foreign and hostile names are emptied",
    service: "names",
    run: async (place, service) => {
      const names = ["x".repeat(60), `É${"é".repeat(40)}`, `a", "b"; 'c\\`, "Temp", "temp", "%_", "https://x.org/y#z"];
      const all = (attribute: unknown): Readonly<Record<string, unknown>> =>
        Object.fromEntries(names.map((name) => [name, attribute]));
      const sink = await place.sink({ ...both, attr_native_types: true });

      await persist(sink, ldEvent("e", all({ ...celsius, unitCode: "first" }), service));
      await persist(sink, ldEvent("e", all({ ...celsius, unitCode: ["first"] }), service, 1));
      const before = Object.values(await last(place, service)).filter((cell) => cell?.includes("first") === true);
      await persist(sink, ldEvent("e", all(property("last")), service, 2));

      const row = await last(place, service);
      assert.equal(before.length, names.length);
      assert.deepEqual(
        Object.entries(row).filter(([, cell]) => cell?.includes("first") === true || cell?.includes("12:00") === true),
        [],
      );
      assert.equal(Object.values(row).filter((cell) => cell === "last").length, 0);
      assert.equal(Object.values(row).filter((cell) => cell === '"last"').length, names.length);
    },
  },
  {
    name: "instances and members of members leave with the value that had them",
    service: "deep",
    run: async (place, service) => {
      const accuracy = { type: "Property", value: 0.5, unitCode: "P1" };
      const gps = { type: "Property", value: 2, datasetId: "urn:gps" };
      const sink = await place.sink(both);

      await persist(sink, ldEvent("e", { speed: [{ type: "Property", value: 1, accuracy }, gps] }, service));
      const before = await last(place, service);
      await persist(sink, ldEvent("e", { speed: property(3) }, service, 1));

      const columns = ["speed", "speed_accuracy", "speed_accuracy_md", "speed_datasets"] as const;
      assert.ok(values(before, ...columns).every((cell) => cell !== undefined));
      assert.deepEqual(values(await last(place, service), ...columns), ["3", undefined, undefined, undefined]);
    },
  },
  {
    name: "the row layout replaces the metadata of an attribute with its value",
    service: "rowmembers",
    run: async (place, service) => {
      const sink = await place.sink({ ...both, attr_persistence: "row" });
      const events: readonly Event[] = [celsius, property(5)].map((temperature, later) =>
        ldEvent("e", { temperature }, service, later),
      );

      await persist(sink, ...events);

      assert.deepEqual(values(await last(place, service), "attrvalue", "attrmd"), ["5", "[]"]);
    },
  },
]);
