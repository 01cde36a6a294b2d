import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Attribute } from "../../../core/ngsi/index.js";
import { storedData } from "../../../core/sql/index.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { NO_POSTGIS, postgisDatabase, postgresqlDatabase } from "../../support/postgresql.js";
import { recordingLog } from "../../support/recording-log.js";
import { ldEvent } from "./ld-events.js";
import { geoProperty, ld, type PostgisStore, point, withSinks } from "./postgis-sinks.js";
import { configOf, eventOf, never } from "./sinks.js";
import { type Given, v2Attribute, v2Entity, v2Event } from "./v2-events.js";

const database = await postgisDatabase();
after(() => database?.drop());
const skip = database === undefined ? NO_POSTGIS : false;

const onDatabase = (run: (store: PostgisStore) => Promise<void>) => async () => await withSinks(database, run);

test(
  "a collection in collections is stored up to a hundred levels, and refused below",
  { skip },
  onDatabase(async ({ sink, query }) => {
    const nested = (levels: number): object =>
      levels === 0 ? point(1, 2) : { type: "GeometryCollection", geometries: [nested(levels - 1)] };
    const one = sink();
    const stored = (levels: number) =>
      one.persist({ events: [eventOf(ld("e", geoProperty("loc", nested(levels))), "nested")] }, never);

    await stored(100);
    await assert.rejects(stored(101), { code: "NOT_A_GEOMETRY" });

    assert.equal((await query("SELECT 1 FROM nested.e")).length, 1);
  }),
);

test(
  "null is SQL NULL, and makes no column",
  { skip },
  onDatabase(async ({ sink, query }) => {
    const one = sink();
    const persist = (value: object | undefined) =>
      one.persist(
        { events: [eventOf(ld("e", geoProperty("loc", value), v2Attribute("n", "Property", 1)), "nulls")] },
        never,
      );

    await persist(undefined);
    const before = await query(
      "SELECT attname FROM pg_attribute WHERE attrelid = 'nulls.e'::regclass AND attname = 'loc'",
    );
    await persist(point(1, 2));
    await persist(undefined);

    assert.deepEqual(before, []);
    const rows = await query("SELECT ST_AsText(loc) AS loc FROM nulls.e ORDER BY ctid");
    assert.deepEqual(
      rows.map(({ loc }) => loc),
      [null, "POINT(1 2)", null],
    );
  }),
);

const deleted = [
  { form: "typed", gone: { type: "GeoProperty", value: "urn:ngsi-ld:null" } },
  { form: "simplified", gone: "urn:ngsi-ld:null" },
] as const;
for (const { form, gone } of deleted)
  for (const attr_native_types of [false, true])
    test(
      `a ${form} geometry that NGSI-LD says was deleted is NULL beside the other values${attr_native_types ? ", typed" : ""}, and empties last data`,
      { skip },
      onDatabase(async ({ sink, query }) => {
        const schema = `deleted${form}${attr_native_types}`.toLowerCase();
        const one = sink({ last_data_mode: "both", attr_native_types });
        const persist = (loc: unknown, later: number) =>
          one.persist(
            { events: [ldEvent("urn:e", { loc, n: { type: "Property", value: later } }, schema, later)] },
            never,
          );

        await persist({ type: "GeoProperty", value: point(1, 2) }, 1);
        await persist(gone, 2);

        const rows = await query(`SELECT ST_AsText(loc) AS loc, n::text FROM ${schema}.urn_e ORDER BY recvtime`);
        assert.deepEqual(rows, [
          { loc: "POINT(1 2)", n: "1" },
          { loc: null, n: "2" },
        ]);
        assert.deepEqual(await query(`SELECT loc, n::text FROM ${schema}.urn_e_last_data`), [{ loc: null, n: "2" }]);
      }),
    );

test(
  "what NGSI-LD says of a deleted geometry stays in columns of text, and in the row layout",
  { skip },
  onDatabase(async ({ sink, query }) => {
    const gone = ldEvent("urn:e", { loc: deleted[0].gone }, "deletedtexts", 1);
    const before = ldEvent("urn:e", { loc: { type: "Property", value: "here" } }, "deletedtexts");
    const one = sink();

    await one.persist({ events: [before] }, never);
    await one.persist({ events: [gone] }, never);
    await sink({ attr_persistence: "row" }).persist(
      { events: [ldEvent("urn:r", { loc: deleted[0].gone }, "deletedtexts")] },
      never,
    );

    const texts = await query("SELECT loc FROM deletedtexts.urn_e ORDER BY recvtime");
    assert.deepEqual(texts, [{ loc: "here" }, { loc: "urn:ngsi-ld:null" }]);
    const rows = await query("SELECT attrvalue, attrgeometry FROM deletedtexts.urn_r");
    assert.deepEqual(rows, [{ attrvalue: "urn:ngsi-ld:null", attrgeometry: null }]);
  }),
);

test(
  "a column that is text stays text, with each value as it came",
  { skip },
  onDatabase(async ({ sink, query }) => {
    await sink({ attr_geometry: false }).persist(
      { events: [v2Event(v2Entity("e", v2Attribute("loc", "geo:point", "1, 2")), "texts")] },
      never,
    );

    const values = ["3, 4", "nowhere"].map((value) =>
      v2Event(v2Entity("e", v2Attribute("loc", "geo:point", value)), "texts"),
    );
    await sink().persist({ events: values }, never);

    const rows = await query("SELECT loc FROM texts.e_t ORDER BY ctid");
    assert.deepEqual(
      rows.map(({ loc }) => loc),
      ["1, 2", "3, 4", "nowhere"],
    );
  }),
);

test(
  "last data has the last geometry, which null empties and an older one leaves",
  { skip },
  onDatabase(async ({ sink, query }) => {
    const one = sink({ last_data_mode: "both" });
    const persist = (value: Given, later: number) =>
      one.persist(
        { events: [v2Event(v2Entity("e", v2Attribute("loc", "geo:point", value)), "lasting", { later })] },
        never,
      );
    const last = async () => (await query("SELECT ST_AsText(loc) AS loc FROM lasting.e_t_last_data"))[0]?.["loc"];

    await persist("1, 2", 10);
    await persist("3, 4", 20);
    await persist("5, 6", 15);
    assert.equal(await last(), "POINT(4 3)");
    await persist(undefined, 30);

    assert.equal(await last(), null);
    assert.equal((await query("SELECT 1 FROM lasting.e_t")).length, 4);
  }),
);

test(
  "last data of entities whose attributes have members has their last geometry, whatever members come with it",
  { skip },
  onDatabase(async ({ sink, query }) => {
    const one = sink({ last_data_mode: "both" });
    const speed = { type: "Property", value: 1, unitCode: "KMH" };

    for (const at of [1, 2, 3, 4]) {
      const place = { type: "GeoProperty", value: point(at, at) };
      await one.persist({ events: [ldEvent("urn:e", { speed, place }, "membered", at)] }, never);
    }

    const rows = await query("SELECT ST_AsText(place) AS place, speed_unitcode FROM membered.urn_e_last_data");
    assert.deepEqual(rows, [{ place: "POINT(4 4)", speed_unitcode: "KMH" }]);
    assert.equal((await query("SELECT 1 FROM membered.urn_e")).length, 4);
  }),
);

const several = () =>
  v2Entity(
    "e",
    v2Attribute("loc", "geo:point", "1, 2"),
    v2Attribute("area", "geo:box", ["0,0", "1,1"]),
    v2Attribute("n", "Number", 5),
  );

test(
  "the row layout has the geometry beside the text, in history and last data",
  { skip },
  onDatabase(async ({ sink, query }) => {
    const one = sink({ attr_persistence: "row", last_data_mode: "both" });

    await one.persist({ events: [v2Event(several(), "beside")] }, never);
    await one.persist(
      { events: [v2Event(v2Entity("e", v2Attribute("loc", "Text", "lost")), "beside", { later: 1 })] },
      never,
    );

    const columns = "attrname, attrvalue, ST_AsText(attrgeometry) AS g";
    assert.deepEqual(await query(`SELECT ${columns} FROM beside.e_t ORDER BY ctid`), [
      { attrname: "loc", attrvalue: "1, 2", g: "POINT(2 1)" },
      { attrname: "area", attrvalue: '["0,0","1,1"]', g: "POLYGON((0 0,1 0,1 1,0 1,0 0))" },
      { attrname: "n", attrvalue: "5", g: null },
      { attrname: "loc", attrvalue: "lost", g: null },
    ]);
    const lost = await query(`SELECT ${columns} FROM beside.e_t_last_data WHERE attrname = 'loc'`);
    assert.deepEqual(lost, [{ attrname: "loc", attrvalue: "lost", g: null }]);
  }),
);

test(
  "attr_geometry_rows = false leaves the row layout as it was, with every value as text",
  { skip },
  onDatabase(async ({ sink, query }) => {
    const one = sink({ attr_persistence: "row", attr_geometry_rows: false });

    await one.persist(
      { events: [v2Event(v2Entity("e", v2Attribute("loc", "geo:point", "nowhere")), "plainrows")] },
      never,
    );

    const [row = {}] = await query("SELECT * FROM plainrows.e_t");
    assert.equal(row["attrvalue"], "nowhere");
    assert.equal(Object.keys(row).length, 9);
  }),
);

const indexes = "SELECT tablename FROM pg_indexes WHERE schemaname = $1 AND indexdef LIKE '%USING gist%' ORDER BY 1";
test(
  "each new column of geometries gets one GiST index when asked, also if two sinks make it",
  { skip },
  onDatabase(async ({ sink, query }) => {
    const [one, other] = [sink({ attr_geometry_index: true }), sink({ attr_geometry_index: true })];
    const plain = v2Event(v2Entity("e", v2Attribute("n", "Number", 1)), "indexed");
    const located = v2Event(v2Entity("e", v2Attribute('l"oc', "geo:point", "1, 2")), "indexed");
    await one.persist({ events: [plain] }, never);
    await other.persist({ events: [plain] }, never);

    await Promise.all([one, other].map((each) => each.persist({ events: [located] }, never)));
    await one.persist({ events: [v2Event(several(), "indexednew")] }, never);

    assert.deepEqual(await query(indexes, ["indexed"]), [{ tablename: "e_t" }]);
    assert.deepEqual(await query(indexes, ["indexednew"]), [{ tablename: "e_t" }, { tablename: "e_t" }]);
    assert.equal((await query(`SELECT "l""oc" FROM indexed.e_t WHERE "l""oc" IS NOT NULL`)).length, 2);
  }),
);

test(
  "rows of a batch with and without geometry, more than one statement takes, are all stored",
  { skip },
  onDatabase(async ({ sink, query }) => {
    const one = sink({ data_model: "dm-by-entity-type" });
    const event = (index: number) =>
      eventOf(
        ld(
          `e${index}`,
          ...(index % 3 === 0 ? [] : [geoProperty("loc", point(index, -index))]),
          v2Attribute("n", "Property", index),
        ),
        "bulk",
      );
    const events = Array.from({ length: 1000 }, (_, index) => event(index));

    await one.persist({ events }, never);
    await one.persist({ events }, never);

    const [row] = await query(
      "SELECT count(*) AS rows, count(loc) AS points, count(*) FILTER (WHERE ST_X(loc) = n::int AND ST_Y(loc) = -n::int) AS right FROM bulk.t",
    );
    assert.deepEqual(row, { rows: "2000", points: "1332", right: "1332" });
  }),
);

test(
  "of several instances the column has the default one, and the column beside it the others",
  { skip },
  onDatabase(async ({ sink, query }) => {
    const located: Attribute = { ...geoProperty("loc", point(1, 2)), others: [geoProperty("loc", point(3, 4))] };

    await sink().persist({ events: [eventOf(ld("e", located), "instances")] }, never);

    const [row] = await query(
      "SELECT ST_AsText(loc) AS loc, loc_datasets::json -> 0 ->> 'value' AS other FROM instances.e",
    );
    assert.deepEqual(row, { loc: "POINT(1 2)", other: '{"type":"Point","coordinates":[3,4]}' });
  }),
);

test(
  "with native types geometries are geometries, and other values have their types",
  { skip },
  onDatabase(async ({ sink, query }) => {
    await sink({ attr_native_types: true }).persist({ events: [v2Event(several(), "typed")] }, never);

    const [row] = await query("SELECT ST_AsText(loc) AS loc, pg_typeof(n) AS n FROM typed.e_t");
    assert.deepEqual(row, { loc: "POINT(2 1)", n: "numeric" });
  }),
);

test(
  "a value that is no geometry is in the error table with its reason",
  { skip },
  onDatabase(async ({ sink, query, database: name }) => {
    const one = sink({ persist_errors: true });
    await one.persist({ events: [v2Event(several(), "told")] }, never);
    const events = [v2Event(v2Entity("e", v2Attribute("loc", "geo:point", "nowhere")), "told")];

    await assert.rejects(one.persist({ events }, never), { code: "NOT_A_GEOMETRY" });
    await one.stop(never);

    const [row] = await query(`SELECT error FROM told."${name}_error_log"`);
    assert.match(row?.["error"] ?? "", /"nowhere" is no geometry/);
  }),
);

test("PostGIS in a schema that no search path names is found", { skip }, async (context) => {
  const own = await postgisDatabase("gis");
  context.after(() => own?.drop());

  await withSinks(own, async ({ sink, query }) => {
    const one = sink({ attr_geometry_index: true });
    await one.persist({ events: [v2Event(several(), "elsewhere")] }, never);
    await one.persist({ events: [v2Event(several(), "elsewhere")] }, never);

    const rows = await query("SELECT gis.ST_AsText(loc) AS loc FROM elsewhere.e_t");
    assert.deepEqual(rows, [{ loc: "POINT(2 1)" }, { loc: "POINT(2 1)" }]);
    const there = own === undefined ? {} : { rdb_host: own.host, rdb_port: own.port, rdb_database: own.database };
    const config = configOf({ ...there, rdb_username: own?.user ?? "", rdb_password: own?.password ?? "" });
    const named = { name: "sink", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
    const data = storedData(config, named, databases.postgresql.open(config, named));
    const exported: unknown[] = [];
    for await (const { columns, rows } of data.rows?.({}, never) ?? []) {
      const at = columns.findIndex(({ name }) => name === "loc");
      for await (const page of rows) exported.push(...page.map((row) => row[at]));
    }
    await data.close();
    assert.deepEqual(exported, Array(2).fill('{"type":"Point","coordinates":[2,1]}'));
  });
});

test("without PostGIS the error says what to run, and passes; afterwards storing continues", {
  skip,
}, async (context) => {
  const own = await postgresqlDatabase();
  context.after(() => own?.drop());

  await withSinks(own, async ({ sink, query, database: name }) => {
    const one = sink();
    const events = [v2Event(several(), "late")];
    const failure = one.persist({ events }, never);
    await assert.rejects(failure, (error: Error & { readonly retryable?: boolean }) => {
      assert.match(error.message, new RegExp(`PostGIS is missing in database "${name}" .*CREATE EXTENSION postgis`));
      return error.retryable === true;
    });

    await query("CREATE EXTENSION postgis");
    await one.persist({ events }, never);

    assert.equal((await query("SELECT 1 FROM late.e_t")).length, 1);
  });
});
