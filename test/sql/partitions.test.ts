import assert from "node:assert/strict";
import type { Event } from "../../core/sdk/index.js";
import type { Place } from "../plugins/rdb-sink/databases.js";
import { type Case, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf } from "../plugins/rdb-sink/sinks.js";
import { v2Attribute, v2Entity, v2Event } from "../plugins/rdb-sink/v2-events.js";

const noon = "2026-12-31T12:00:00.000Z";
const later = () => new Date(noon);
const stamped = (event: Event, time: string): Event => ({
  ...event,
  headers: { ...event.headers, timestamp: String(Date.parse(time)) },
});
const at = (time: string, service: string, id = "urn:x") => stamped(eventOf(entity(id, { a: time }), service), time);
const v2At = (time: string, service: string) =>
  stamped(v2Event(v2Entity("car", v2Attribute("p", "Text", time)), service), time);

// Retention reaches all tables of a sink of that name on a server, so each case has a sink of its own.
const sinkIn = (place: Place, service: string, config: Parameters<Place["sink"]>[0], now = later) =>
  place.sink(partitionable(place) ? { ...config } : { ...config, partition: "none" }, now, { name: service });

/** The same cases hold on databases without partitions: there the tables are plain. */
function partitionable(place: Place): boolean {
  return place.database !== undefined || place.prefix !== "";
}

const times = [
  "2026-12-31T23:59:59.999Z",
  "2027-01-01T00:00:00.000Z",
  "2026-12-01T00:00:00.000Z",
  "2027-01-10T10:00:00.000Z",
  "2027-01-05T10:00:00.000Z",
  "1970-01-01T00:00:00.000Z",
  "2150-01-01T00:00:00.000Z",
  "2027-01-06T10:00:00.000Z",
];

const cases: readonly Case[] = [
  ...(["day", "week", "month", "year"] as const).map((partition) => ({
    name: `rows late, early, at midnight and across a change of year are stored with partitions of a ${partition}`,
    service: `all${partition}`,
    run: async (place: Place, service: string) => {
      const sink = await sinkIn(place, service, { partition, indexes: true });

      await persist(sink, at(noon, service), v2At(noon, service));
      for (const time of times) await persist(sink, at(time, service), v2At(time, service));
      await persist(sink, ...times.map((time) => at(time, service)));

      const stored = (await place.rows(service, "urn_x")).map(({ a }) => a);
      assert.deepEqual(stored.sort(), [noon, ...times, ...times].sort());
      assert.equal((await place.rows(service, "car_t")).length, 1 + times.length);
      assert.deepEqual(
        sink.lines.filter(({ level }) => level === "warn" || level === "error"),
        [],
      );
    },
  })),
  {
    name: "typed times are partitioned too",
    service: "typed",
    run: async (place, service) => {
      const sink = await sinkIn(place, service, { partition: "day", attr_native_types: true, indexes: true });

      for (const time of times) await persist(sink, at(time, service), v2At(time, service));

      assert.equal((await place.rows(service, "urn_x")).length, times.length);
      assert.equal((await place.rows(service, "car_t")).length, times.length);
    },
  },
  {
    name: "rows that are old are deleted, as whole partitions where there are some",
    service: "aged",
    run: async (place, service) => {
      const sink = await sinkIn(place, service, { partition: "day", retention_days: 1 });
      const days = ["2026-12-28", "2026-12-29", "2026-12-30", "2026-12-31"].map((day) => `${day}T12:00:00.000Z`);
      for (const day of days) await persist(sink, at(day, service), at(day, service, "urn:y"));

      await sink.sink.sweep();
      const kept = (await place.rows(service, "urn_x")).map(({ a }) => a);
      await persist(sink, at("2026-12-28T12:00:00.000Z", service));
      await persist(sink, at("2027-01-02T12:00:00.000Z", service));

      assert.deepEqual(kept, days.slice(2));
      assert.equal((await place.rows(service, "urn_x")).length, 4);
    },
  },
  {
    name: "a row of a far future does not keep old rows",
    service: "farfuture",
    run: async (place, service) => {
      const config = { partition: "day", retention_days: 1 } as const;
      const sink = await sinkIn(place, service, config);
      for (const time of ["2150-01-01T00:00:00.000Z", "2024-02-29T12:00:00.000Z", "2026-12-30T12:00:00.000Z", noon])
        await persist(sink, at(time, service), v2At(time, service));

      await sink.sink.sweep();
      const days = await sinkIn(place, service, config, () => new Date("2027-01-02T12:00:00.000Z"));
      await days.sink.sweep();

      const kept = async (table: string) =>
        (await place.rows(service, table)).map(({ recvtime }) => recvtime?.slice(0, 10));
      assert.deepEqual(
        [await kept("urn_x"), await kept("car_t")].map((all) => all.sort().join()),
        ["2150-01-01", "2150-01-01"],
      );
    },
  },
  {
    name: "a table whose rows are all old can be written to after its partitions are dropped",
    service: "empty",
    run: async (place, service) => {
      const writer = await sinkIn(place, service, { partition: "month" });
      await persist(writer, at("2026-01-01T00:00:00.000Z", service));
      const sweeping = await sinkIn(place, service, { partition: "month", retention_days: 30 });

      await sweeping.sink.sweep();
      await sweeping.sink.sweep();
      const kept = await place.rows(service, "urn_x");
      await persist(writer, at(noon, service), at("2026-01-01T00:00:00.000Z", service));

      assert.deepEqual(kept, []);
      assert.equal((await place.rows(service, "urn_x")).length, 2);
    },
  },
  {
    name: "two agents that need the same partitions at once store all rows",
    service: "twice",
    run: async (place, service) => {
      const first = await sinkIn(place, service, { partition: "day" });
      const second = await sinkIn(place, service, { partition: "day" });
      const all = Array.from({ length: 12 }, (_, day) => `2026-11-${String(day + 1).padStart(2, "0")}T00:00:00.000Z`);

      await Promise.all(
        [first, second].map(async (sink) => {
          for (const time of all) await persist(sink, at(time, service), at(time, service, "urn:y"));
        }),
      );

      assert.equal((await place.rows(service, "urn_x")).length, 2 * all.length);
      assert.equal((await place.rows(service, "urn_y")).length, 2 * all.length);
    },
  },
  {
    name: "another period, or none, goes on writing to the partitioned tables that there are",
    service: "changed",
    run: async (place, service) => {
      for (const partition of ["day", "month", "none", "year", "week"] as const) {
        const sink = await sinkIn(place, service, { partition });
        for (const time of times) await persist(sink, at(time, service));
        await persist(sink, at("2027-03-03T00:00:00.000Z", service), at("2026-12-24T00:00:00.000Z", service));
      }

      assert.equal((await place.rows(service, "urn_x")).length, 5 * (times.length + 2));
    },
  },
  {
    name: "tables of last data have no partitions",
    service: "lastplain",
    run: async (place, service) => {
      const sink = await sinkIn(place, service, { partition: "day", last_data_mode: "both", indexes: true });

      for (const time of ["2026-12-30T00:00:00.000Z", noon, "2027-01-01T00:00:00.000Z"])
        await persist(sink, at(time, service));

      assert.equal((await place.rows(service, "urn_x")).length, 3);
      assert.equal((await place.rows(service, "urn_x_last_data")).length, 1);
    },
  },
];

await onEveryDatabase("partitions", cases);
