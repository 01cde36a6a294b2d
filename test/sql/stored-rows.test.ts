import assert from "node:assert/strict";
import type { Entity } from "../../core/ngsi/index.js";
import type { RowSelection, StoredData, StoredRows } from "../../core/sdk/index.js";
import { type Case, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { attribute, entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";

/** A table with all its rows, as objects. */
interface ReadTable {
  readonly name: string;
  readonly kinds: Readonly<Record<string, string>>;
  readonly rows: readonly Readonly<Record<string, string | undefined>>[];
  readonly pages: number;
  readonly skipped: string | undefined;
}

async function read(data: StoredData, selection: RowSelection): Promise<readonly ReadTable[]> {
  const tables: ReadTable[] = [];
  for await (const one of data.rows?.(selection, never) ?? []) tables.push(await whole(one));
  return tables;
}

async function whole({ table, columns, rows, skipped }: StoredRows): Promise<ReadTable> {
  const all: ReadTable["rows"][number][] = [];
  let pages = 0;
  for await (const page of rows) {
    pages += 1;
    for (const row of page) all.push(Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])));
  }
  const kinds = Object.fromEntries(columns.map(({ name, kind }) => [name, kind]));
  return { name: table.name, kinds, rows: all, pages, skipped };
}

function at(time: string, id: string, service: string) {
  const { body } = eventOf(entity(id, { p: "1" }), service);
  return { headers: { "fiware-service": service, timestamp: String(Date.parse(time)) }, body };
}

const typed: Entity = {
  id: "typed",
  type: "T",
  attributes: [
    attribute("text", 'a "quoted", text\nof two lines'),
    { ...attribute("many", ""), value: { kind: "number", text: "9007199254740993" } },
    { ...attribute("half", ""), value: { kind: "number", text: "-0.5" } },
    { ...attribute("yes", ""), value: { kind: "boolean", text: "true" } },
    { ...attribute("place", ""), value: { kind: "object", text: '{"a":[1,2]}' } },
    { ...attribute("day", "2020-05-13T10:00:00.123456Z"), type: "DateTime" },
  ],
};

const cases: readonly Case[] = [
  {
    name: "an attribute with a name that objects of JavaScript have is read like any other",
    service: "own_names",
    run: async (place, service) => {
      const sink = await place.sink({}, undefined, { name: service });
      await persist(sink, eventOf(entity("e", { ["__proto__"]: "1", constructor: "2", p: "3" }), service));

      const [table] = await read(place.data({}, service), { service });

      const [row = {}] = table?.rows ?? [];
      assert.deepEqual(
        ["__proto__", "constructor", "p"].map((name) => Object.entries(row).find(([column]) => column === name)?.[1]),
        ["1", "2", "3"],
      );
    },
  },
  {
    name: "rows are read by entity and by time of reception",
    service: "read",
    run: async (place, service) => {
      const config = { data_model: "dm-by-entity-type" } as const;
      const sink = await place.sink(config, undefined, { name: service });
      const days = ["2020-01-01T00:00:00Z", "2020-01-02T00:00:00Z", "2020-01-03T00:00:00Z"];
      await persist(sink, ...days.flatMap((day) => [at(day, "a", service), at(day, "b", service)]));
      const data = place.data(config, service);

      const [ofEntity] = await read(data, { entity: "a" });
      const between = { from: new Date("2020-01-02T00:00:00Z"), to: new Date("2020-01-03T00:00:00Z") };
      const [ofDay] = await read(data, { service, ...between });
      const none = await read(data, { service: `${service}_none` });

      assert.deepEqual(
        ofEntity?.rows.map(({ entityid }) => entityid),
        ["a", "a", "a"],
      );
      assert.deepEqual(
        ofDay?.rows.map(({ entityid, recvtime }) => `${entityid} ${recvtime?.slice(0, 10)}`).toSorted(),
        ["a 2020-01-02", "b 2020-01-02"],
      );
      assert.deepEqual(none, []);
    },
  },
  {
    name: "values of typed columns have the same form on every database",
    service: "typed",
    run: async (place, service) => {
      const sink = await place.sink({ attr_native_types: true }, undefined, { name: service });
      await persist(sink, eventOf(typed, service));

      const [table] = await read(place.data({ attr_native_types: true }, service), { entity: "typed" });

      const [row] = table?.rows ?? [];
      assert.equal(row?.["text"], 'a "quoted", text\nof two lines');
      assert.equal(row?.["half"], "-0.5");
      assert.equal(row?.["yes"], "true");
      assert.deepEqual(JSON.parse(row?.["place"] ?? ""), { a: [1, 2] });
      assert.match(row?.["day"] ?? "", /^2020-05-13T10:00:00\.123456Z$/);
      assert.match(row?.["recvtime"] ?? "", /^2020-05-13T14:46:21\.918(000)?Z$/);
    },
  },
  {
    name: "many rows are read in parts, each once",
    service: "parts",
    run: async (place, service) => {
      const sink = await place.sink({}, undefined, { name: service });
      const events = Array.from({ length: 2500 }, (_, n) => eventOf(entity("a", { n: String(n) }), service));
      await persist(sink, ...events);

      const [table] = await read(place.data({}, service), { service });

      assert.equal(new Set(table?.rows.map((row) => row["n"])).size, 2500);
      assert.equal(table?.rows.length, 2500);
    },
  },
];

await onEveryDatabase("rows for an export", cases);
