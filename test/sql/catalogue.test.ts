import assert from "node:assert/strict";
import { type Case, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";

/** The columns of a register without those of facts but one, which may have a condition. */
const registerColumns = (
  condition: string,
) => `${["schema_name", "table_name", "sink"].map((name) => `${name} varchar(100)`).join(", ")},
  kind varchar(40), subject varchar(100), known_since varchar(40), last_write varchar(40) ${condition},
  PRIMARY KEY (schema_name, table_name, sink)`;

const cases: readonly Case[] = [
  {
    name: "the catalogue lists tables with their sink, kind and full id, sorted by name",
    service: "listed",
    run: async (place, service) => {
      const long = `urn:${"x".repeat(200)}`;
      const sink = await place.sink({ last_data_mode: "both" });
      await persist(sink, eventOf(entity("b", { a: "1" }), service), eventOf(entity(long, { a: "1" }), service));
      const other = await place.sink({}, undefined, { name: "other" });
      await persist(other, eventOf(entity("b", { a: "1" }), service));

      const all = (await place.data().tables?.({}, never)) ?? [];
      const own = all.filter(({ schema }) => schema === service);

      assert.deepEqual(
        own.map(({ subject, kind, sink: by }) => `${subject === long ? "long" : subject} ${kind} ${by}`).sort(),
        ["b history other", "b history sink", "b last data sink", "long history sink", "long last data sink"],
      );
      assert.deepEqual(
        [...own.map(({ table }) => table)].sort(),
        own.map(({ table }) => table),
      );
      assert.ok(own.every(({ name, table }) => name.endsWith(`${service}.${table}`)));
      assert.ok(own.every((table) => table.service === service));
    },
  },
  {
    name: "a selection names tables or a service",
    service: "selected",
    run: async (place, service) => {
      const sink = await place.sink();
      await persist(sink, eventOf(entity("a", { a: "1" }), service), eventOf(entity("b", { a: "1" }), service));
      const data = place.data();
      const [, second] = (await data.tables?.({ service }, never)) ?? [];

      const named = await data.tables?.({ tables: [second?.name ?? ""] }, never);
      const none = await data.tables?.({ service: `${service}_x` }, never);

      assert.deepEqual(
        named?.map(({ table }) => table),
        ["b"],
      );
      assert.deepEqual(none, []);
    },
  },
  {
    name: "it holds type, data model, service and the last write of a table, noted again after an hour",
    service: "facts",
    run: async (place, service) => {
      let now = Date.parse("2026-01-01T00:00:00Z");
      const sink = await place.sink({}, () => new Date(now));
      const stored = async () => (await place.data().tables?.({ service }, never)) ?? [];
      const event = eventOf(entity("a", { a: "1" }), service);
      await persist(sink, event);
      await sink.sink.flush();
      const [first] = await stored();
      now += 3_599_000;
      await persist(sink, event);
      await sink.sink.flush();
      const [second] = await stored();
      now += 1000;
      await persist(sink, event);
      await sink.sink.flush();
      const [third] = await stored();

      assert.equal(first?.entityType, "T");
      assert.equal(first?.dataModel, "dm-by-entity");
      assert.equal(first?.firstWrite, "2026-01-01T00:00:00.000Z");
      assert.equal(first?.lastWrite, "2026-01-01T00:00:00.000Z");
      assert.equal(second?.lastWrite, "2026-01-01T00:00:00.000Z");
      assert.equal(third?.lastWrite, "2026-01-01T01:00:00.000Z");
    },
  },
  {
    name: "a register that refuses facts is a line in the log, and another one when it takes them",
    service: "refusedfacts",
    run: async (place, service) => {
      let now = Date.parse("2026-01-01T00:00:00Z");
      const register = place.registerOf(service);
      const event = eventOf(entity("a", { a: "1" }), service);
      await persist(await place.sink(), event);
      await place.alter(...register, "DROP TABLE @");
      await place.alter(...register, `CREATE TABLE @ (${registerColumns("CHECK (last_write IS NULL)")})`);
      const sink = await place.sink({}, () => new Date(now));
      await persist(sink, event);
      await sink.sink.flush();
      await place.alter(...register, "DROP TABLE @");
      await place.alter(...register, `CREATE TABLE @ (${registerColumns("")})`);

      now += 3_600_000;
      await persist(sink, event);
      await sink.sink.flush();

      assert.deepEqual(
        sink.lines.map(({ message }) => message).filter((message) => message.startsWith("facts")),
        ["facts about tables are not listed, will be tried again", "facts about tables are listed again"],
      );
    },
  },
  {
    name: "facts that a register refused are listed once it takes them, also of a table that gets no further row",
    service: "keptfacts",
    run: async (place, service) => {
      let now = Date.parse("2026-01-01T00:00:00Z");
      const register = place.registerOf(service);
      await persist(await place.sink(), eventOf(entity("a", { a: "1" }), service));
      await place.alter(...register, "DROP TABLE @");
      await place.alter(...register, `CREATE TABLE @ (${registerColumns("CHECK (last_write IS NULL)")})`);
      const sink = await place.sink({}, () => new Date(now));
      await persist(sink, eventOf(entity("b", { a: "1" }), service));
      await sink.sink.flush();
      await place.alter(...register, "DROP TABLE @");
      await place.alter(...register, `CREATE TABLE @ (${registerColumns("")})`);

      now += 10_000;
      await sink.sink.flush();

      const stored = (await place.data().tables?.({ service }, never)) ?? [];
      assert.equal(stored.find(({ table }) => table === "b")?.lastWrite, "2026-01-01T00:00:00.000Z");
    },
  },
  {
    name: "the list has the partitions of a table, and its rows as far as the database has looked at them",
    service: "sizes",
    run: async (place, service) => {
      const partitionable = place.database !== undefined || place.prefix !== "";
      const estimates = partitionable ? (place.prefix === "" ? "ANALYZE @" : "ANALYZE TABLE @") : undefined;
      await persist(await place.sink(), eventOf(entity("plain", { a: "1" }), service));
      const sink = await place.sink({ partition: partitionable ? "day" : "none" });
      const events = ["2026-12-31T12:00:00Z", "2027-01-02T12:00:00Z"].map((time) => {
        const event = eventOf(entity("parts", { a: time }), service);
        return { ...event, headers: { ...event.headers, timestamp: String(Date.parse(time)) } };
      });
      await persist(sink, ...events);
      for (const table of ["parts", "plain"]) if (estimates !== undefined) await place.alter(service, table, estimates);

      const all = (await place.data().tables?.({ service }, never)) ?? [];

      const fillers = place.prefix === "" ? 0 : 2;
      assert.deepEqual(
        all.map(({ table, partitions, rows }) => [table, partitions, rows]),
        [
          ["parts", ...(partitionable ? [2 + fillers, 2] : [undefined, undefined])],
          ["plain", undefined, partitionable ? 1 : undefined],
        ],
      );
    },
  },
  {
    name: "a register of an earlier version gets the columns of the facts",
    service: "older",
    run: async (place, service) => {
      await persist(await place.sink(), eventOf(entity("a", { a: "1" }), service));
      const [schema, register] = place.registerOf(service);
      for (const column of ["data_model", "entity_type", "service", "service_path", "last_write"])
        await place.alter(schema, register, `ALTER TABLE @ DROP COLUMN ${column}`);

      const before = (await place.data().tables?.({ service }, never)) ?? [];
      const sink = await place.sink();
      await persist(sink, eventOf(entity("a", { a: "1" }), service));
      await sink.sink.flush();
      const after = (await place.data().tables?.({ service }, never)) ?? [];

      assert.deepEqual(
        before.map(({ entityType }) => entityType),
        [undefined],
      );
      assert.deepEqual(
        after.map(({ entityType }) => entityType),
        ["T"],
      );
    },
  },
];

await onEveryDatabase("the catalogue of its tables", cases);
