import assert from "node:assert/strict";
import type { Erasure, Event, StoredData, StoredSelection } from "../../core/sdk/index.js";
import type { RdbConfig } from "../../plugins/rdb-sink/config.js";
import { type Case, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";

const byType: Partial<RdbConfig> = { data_model: "dm-by-entity-type", last_data_mode: "both" };

async function erase(data: StoredData, selection: StoredSelection, dryRun = false): Promise<Erasure> {
  const erasure = await data.erase?.(selection, dryRun, never);
  assert.ok(erasure !== undefined);
  return erasure;
}

/** `history 2` for two rows of a table of history, sorted. */
function counts({ erased }: Erasure): readonly string[] {
  return erased.map(({ kind, rows }) => `${kind} ${rows}`).sort();
}

function v2(id: string, service: string): Event {
  const { headers, body } = eventOf({ ...entity(id, { a: "1" }), api: "v2" }, service);
  return { headers: { ...headers, "fiware-servicepath": "/floor" }, body };
}

const models = ["dm-by-entity", "dm-by-entity-type", "dm-by-attribute", "dm-by-service-path"] as const;
const hostile = ["o'hara", 'quo"te', "back\\slash", "100%", "a_b", "; DROP TABLE x --", "𝒳".repeat(5000)];

/** What databases call the address of a row. */
const addresses = ["rowid", "_rowid_", "oid", "ROWID", "ctid", "tableoid"];

const cases: readonly Case[] = [
  {
    name: "attributes with the names by which a database finds its rows do not let rows of other entities be erased",
    service: "addressed",
    run: async (place, service) => {
      const sink = await place.sink(byType, undefined, { name: service });
      const same = Object.fromEntries(addresses.map((name) => [name, "1"]));
      await persist(sink, ...["urn:a", "urn:b"].map((id) => eventOf(entity(id, same), service)));
      await persist(sink, eventOf(entity("urn:a", { p: "1" }), service));

      const done = await erase(place.data(byType, service), { entity: "urn:a" });

      assert.deepEqual([counts(done), done.left], [["history 2", "last data 1"], []]);
      const after = await place.rows(service, "t");
      assert.deepEqual(
        after.map((row) => row["entityid"]),
        ["urn:b"],
      );
      assert.equal(Object.values(after[0] ?? {}).filter((cell) => cell === "1").length, addresses.length);
    },
  },
  {
    name: "the rows of an entity are erased from history and last data, and a dry run only counts them",
    service: "erased",
    run: async (place, service) => {
      const sink = await place.sink(byType, undefined, { name: service });
      const events = ["urn:a", "urn:b", "urn:a"].map((id) => eventOf(entity(id, { p: "1" }), service));
      await persist(sink, ...events);
      const data = place.data(byType, service);

      const dry = await erase(data, { entity: "urn:a" }, true);
      const before = await place.rows(service, "t");
      const done = await erase(data, { entity: "urn:a" });
      const after = await place.rows(service, "t");
      const again = await erase(data, { entity: "urn:a" });

      assert.deepEqual([counts(dry), dry.left], [["history 2", "last data 1"], []]);
      assert.equal(before.length, 3);
      assert.deepEqual(counts(done), ["history 2", "last data 1"]);
      assert.deepEqual(
        after.map((row) => row["entityid"]),
        ["urn:b"],
      );
      assert.deepEqual([again.erased, again.left], [[], []]);
    },
  },
  {
    name: "an id is compared exactly: letter case, accents and spaces are another entity",
    service: "exact",
    run: async (place, service) => {
      const sink = await place.sink({ data_model: "dm-by-entity-type" }, undefined, { name: service });
      const ids = ["Room", "room", "Room ", "Róom", "Roo_", "Roo%", "xRoom"];
      await persist(sink, ...ids.map((id) => eventOf(entity(id, { p: "1" }), service)));

      const done = await erase(place.data({ data_model: "dm-by-entity-type" }, service), { entity: "Room" });

      assert.deepEqual(counts(done), ["history 1"]);
      const left = (await place.rows(service, "t")).map((row) => row["entityid"]);
      assert.deepEqual(left.toSorted(), ids.filter((id) => id !== "Room").toSorted());
    },
  },
  ...models.map((data_model): Case => {
    return {
      name: `the rows of an entity are found in every table of ${data_model}, in both layouts`,
      service: `models_${data_model.replaceAll("-", "_")}`,
      run: async (place, service) => {
        const id = `urn:${data_model}:${"long".repeat(40)}`;
        for (const attr_persistence of ["column", "row"] as const) {
          const config = { data_model, attr_persistence } as const;
          const name = attr_persistence;
          const sink = await place.sink(config, undefined, { name: `${name} ${service}` });
          const own = `${service}_${attr_persistence}`;
          await persist(sink, v2(id, own), v2(`other ${own}`, own));

          const done = await erase(place.data(config, `${name} ${service}`), { entity: id });
          const rest = await erase(place.data(config, `${name} ${service}`), { entity: `other ${own}` }, true);

          assert.deepEqual([counts(done), counts(rest)], [["history 1"], ["history 1"]]);
        }
      },
    };
  }),
  {
    name: "hostile ids are values like others",
    service: "hostile",
    run: async (place, service) => {
      const sink = await place.sink({ data_model: "dm-by-entity-type" }, undefined, { name: service });
      await persist(sink, ...hostile.map((id) => eventOf(entity(id, { p: "1" }), service)));
      const data = place.data({ data_model: "dm-by-entity-type" }, service);

      const impossible = await erase(data, { entity: "nul\0" });
      const found: (readonly string[])[] = [];
      for (const id of hostile) found.push(counts(await erase(data, { entity: id })));

      assert.deepEqual([impossible.erased, impossible.left], [[], []]);
      assert.deepEqual(
        found,
        hostile.map(() => ["history 1"]),
      );
      assert.deepEqual(await place.rows(service, "t"), []);
    },
  },
  {
    name: "a service is erased from schemas that hold no other, and the tables of shared schemas are named as left",
    service: "services",
    run: async (place, service) => {
      const sink = await place.sink({}, undefined, { name: service });
      await persist(sink, eventOf(entity("a", { p: "1" }), service), eventOf(entity("b", { p: "1" }), service));
      const shared = `${service}_Shared`;
      await persist(sink, eventOf(entity("a", { p: "1" }), shared));
      await persist(sink, eventOf(entity("a", { p: "1" }), shared.toLowerCase()));

      const done = await erase(place.data({}, service), { service });
      const left = await erase(place.data({}, service), { service: shared });

      assert.deepEqual([counts(done), done.left], [["history 1", "history 1"], []]);
      assert.deepEqual(left.erased, []);
      assert.equal(left.left.length, 1);
      assert.match(left.left[0]?.reason ?? "", /holds the services .*_Shared.*select by entity or table/);
      assert.equal((await place.rows(shared.toLowerCase(), "a")).length, 2);
    },
  },
  {
    name: "a table is erased by its name, and none of another service that would be written alike",
    service: "dotted",
    run: async (place, service) => {
      const config = { data_model: "dm-by-entity" } as const;
      const sink = await place.sink(config, undefined, { name: service });
      const rows = (id: string, of: string) => eventOf({ ...entity(id, { p: "1" }), api: "v2" }, of);
      await persist(sink, rows("b.c", service), rows("c", `${service}.b`));
      const data = place.data(config, service);

      const all = (await data.tables?.({}, never)) ?? [];
      const tables = all.filter(({ schema }) => schema === service || schema === `${service}.b`);
      const own = tables.filter((table) => table.subject === "b.c").map(({ name }) => name);
      const done = await erase(data, { tables: own });
      const left = await erase(data, { service: `${service}.b` }, true);

      assert.equal(new Set(tables.map(({ name }) => name)).size, 2);
      assert.deepEqual([counts(done), done.left, done.untouched], [["history 1"], [], []]);
      assert.deepEqual(counts(left), ["history 1"]);
    },
  },
  {
    name: "tables of other sinks and of nobody are named and not touched",
    service: "others",
    run: async (place, service) => {
      const other = await place.sink({}, undefined, { name: `other ${service}` });
      await persist(other, eventOf(entity("mine", { p: "1" }), service));
      await place.alter(service, "nobody", "CREATE TABLE @ (recvtime text, entityid text, entitytype text)");
      await place.alter(service, "nobody", "INSERT INTO @ VALUES ('x', 'mine', 'T')");

      const done = await erase(place.data({}, service), { entity: "mine" });

      const untouched = done.untouched.filter(({ name }) => name.includes(service));
      assert.deepEqual(done.erased, []);
      assert.deepEqual(untouched.map(({ reason }) => reason).sort(), [
        "no sink has listed it",
        `only sink "other ${service}" has listed it`,
      ]);
      assert.equal((await place.rows(service, "mine")).length, 1);
      assert.equal((await place.rows(service, "nobody")).length, 1);
    },
  },
  {
    name: "rows of the error table that quote the id are erased",
    service: "errors",
    run: async (place, service) => {
      const config = { persist_errors: true } as const;
      const made = await place.sink(config, undefined, { name: service });
      await persist(made, eventOf(entity("good", { p: "1" }), service));
      const bad = (id: string) => eventOf(entity(id, { a: "x\0y" }), service);
      for (const id of ["urn:1", "urn:11"]) await assert.rejects(persist(made, bad(id)));
      await made.sink.stop(never);

      const done = await erase(place.data(config, service), { entity: "urn:1" });
      const rest = await erase(place.data(config, service), { entity: "urn:11" }, true);

      assert.deepEqual([counts(done), counts(rest)], [["errors 1"], ["errors 1"]]);
    },
  },
  {
    name: "more rows than one transaction takes are erased",
    service: "many",
    run: async (place, service) => {
      const sink = await place.sink({ data_model: "dm-by-entity-type" }, undefined, { name: service });
      const events = Array.from({ length: 5001 }, (_, n) =>
        eventOf(entity(n === 0 ? "one" : "many", { p: "1" }), service),
      );
      await persist(sink, ...events);
      await persist(sink, ...events.slice(1));

      const done = await erase(place.data({}, service), { entity: "many" });

      assert.deepEqual(counts(done), ["history 10000"]);
      assert.equal((await place.rows(service, "t")).length, 1);
    },
  },
  {
    name: "an agent stores the same entity meanwhile, and what it stored is erased by another run",
    service: "load",
    run: async (place, service) => {
      const sink = await place.sink({}, undefined, { name: service });
      const store = () =>
        persist(sink, ...Array.from({ length: 20 }, () => eventOf(entity("busy", { p: "1" }), service)));
      await store();
      let stored = 20;
      let isOver = false;
      const load = (async () => {
        while (!isOver) {
          await store();
          stored += 20;
        }
      })();
      const data = place.data({}, service);

      let erased = 0;
      for (let run = 0; run < 5; run += 1) {
        const done = await erase(data, { entity: "busy" });
        assert.deepEqual(done.left, []);
        for (const { rows } of done.erased) erased += rows;
      }
      isOver = true;
      await load;
      for (const { rows } of (await erase(data, { entity: "busy" })).erased) erased += rows;

      assert.equal(erased, stored);
      assert.deepEqual(await place.rows(service, "busy"), []);
    },
  },
];

await onEveryDatabase("erasure", cases);
