import assert from "node:assert/strict";
import { after, test } from "node:test";
import { codeOf } from "../../../core/sdk/index.js";
import { NO_POSTGIS, postgisDatabase } from "../../support/postgresql.js";
import { type PostgisStore, point, withSinks } from "./postgis-sinks.js";
import { never } from "./sinks.js";
import { type Given, v2Attribute, v2Entity, v2Event } from "./v2-events.js";

const database = await postgisDatabase();
after(() => database?.drop());
const skip = database === undefined ? NO_POSTGIS : false;

const onDatabase = (run: (store: PostgisStore) => Promise<void>) => async () => await withSinks(database, run);

const ring = [
  [0, 0],
  [1, 0],
  [1, 1],
  [0, 0],
];
const kept: readonly { readonly type: string; readonly value: Given; readonly stored: string }[] = [
  { type: "GeoProperty", value: point(-3.5, 40.1), stored: "POINT(-3.5 40.1)" },
  { type: "GeoProperty", value: point(1, 2, 700), stored: "POINT(1 2)" },
  { type: "GeoProperty", value: point(1e21, -1e308), stored: "POINT(1e+21 -1e+308)" },
  { type: "GeoProperty", value: { ...point(1, 2), bbox: [1, 2, 1, 2], crs: null }, stored: "POINT(1 2)" },
  {
    type: "GeoProperty",
    value: {
      type: "LineString",
      coordinates: [
        [1, 2],
        [3, 4],
      ],
    },
    stored: "LINESTRING(1 2,3 4)",
  },
  {
    type: "GeoProperty",
    value: { type: "Polygon", coordinates: [ring, ring] },
    stored: "POLYGON((0 0,1 0,1 1,0 0),(0 0,1 0,1 1,0 0))",
  },
  {
    type: "geo:json",
    value: {
      type: "MultiPoint",
      coordinates: [
        [1, 2],
        [3, 4, 5],
      ],
    },
    stored: "MULTIPOINT(1 2,3 4)",
  },
  {
    type: "geo:json",
    value: {
      type: "MultiLineString",
      coordinates: [
        [
          [1, 2],
          [3, 4],
        ],
      ],
    },
    stored: "MULTILINESTRING((1 2,3 4))",
  },
  {
    type: "geo:json",
    value: { type: "MultiPolygon", coordinates: [[ring]] },
    stored: "MULTIPOLYGON(((0 0,1 0,1 1,0 0)))",
  },
  {
    type: "geo:json",
    value: {
      type: "GeometryCollection",
      geometries: [point(1, 2), { type: "GeometryCollection", geometries: [point(3, 4)] }],
    },
    stored: "GEOMETRYCOLLECTION(POINT(1 2),GEOMETRYCOLLECTION(POINT(3 4)))",
  },
  { type: "geo:point", value: "40.1, -3.5", stored: "POINT(-3.5 40.1)" },
  { type: "geo:box", value: ["0,0", "1,2"], stored: "POLYGON((0 0,2 0,2 1,0 1,0 0))" },
];
for (const [index, { type, value, stored }] of kept.entries())
  test(
    `${type} ${JSON.stringify(value)} is stored as a geometry with SRID 4326`,
    { skip },
    onDatabase(async ({ sink, query }) => {
      const service = `kept${index}`;

      await sink().persist({ events: [v2Event(v2Entity("e", v2Attribute("loc", type, value)), service)] }, never);

      const columns = `SELECT ST_AsEWKT(loc) AS loc, ST_SRID(loc) AS srid, ST_IsValid(ST_Force2D(loc)) AS valid FROM ${service}.e_t`;
      assert.equal((await query(columns))[0]?.["loc"], `SRID=4326;${stored}`);
      const [column] = await query(
        "SELECT format_type(atttypid, atttypmod) AS type FROM pg_attribute WHERE attrelid = $1::regclass AND attname = 'loc'",
        [`${service}.e_t`],
      );
      assert.equal(column?.["type"], "geometry(Geometry,4326)");
    }),
  );

const unclosed = {
  type: "Polygon",
  coordinates: [
    [
      [0, 0],
      [1, 0],
      [1, 1],
      [0, 1],
    ],
  ],
};
const refused: readonly { readonly type: string; readonly value: Given }[] = [
  ...[
    { type: "Feature", geometry: point(1, 2), properties: {} },
    point(),
    point(1),
    point(1, 2, 3, 4),
    { type: "Point", coordinates: ["1", "2"] },
    { type: "Point", coordinates: [null, 2] },
    { type: "Point" },
    { type: "MultiPoint", coordinates: [] },
    { type: "LineString", coordinates: [[1, 2]] },
    { type: "Polygon", coordinates: [] },
    unclosed,
    { type: "GeometryCollection", geometries: [] },
    { ...point(1, 2), crs: { type: "name", properties: { name: "EPSG:3857" } } },
    { type: "point", coordinates: [1, 2] },
    {},
    "it's not json",
    12,
  ].map((value) => ({ type: "geo:json", value })),
  { type: "geo:point", value: "nowhere" },
  { type: "geo:point", value: "NaN, NaN" },
  { type: "geo:polygon", value: ["0,0", "1,0", "1,1"] },
];
for (const { type, value } of refused)
  test(
    `${type} ${JSON.stringify(value)} is refused by name, before anything is created for it`,
    { skip },
    onDatabase(async ({ sink, query }) => {
      const events = [v2Event(v2Entity("e", v2Attribute("loc", type, value)), "refused")];

      await assert.rejects(sink().persist({ events }, never), (error: Error) => {
        assert.match(error.message, /storing "loc" of entity "e" in table "e_t": ".*" is no geometry/s);
        return codeOf(error) === "NOT_A_GEOMETRY";
      });
      assert.deepEqual(await query("SELECT 1 FROM pg_namespace WHERE nspname = 'refused'"), []);
    }),
  );

const fixedColumns = "recvtime text, fiwareservicepath text, entityid text, entitytype text, loc_md text";
const provisioned = [
  { loc: "geometry", type: "geo:json", value: point(1, 2, 3), stored: "SRID=4326;POINT(1 2 3)" },
  { loc: "geometry(PointZ, 4326)", type: "geo:json", value: point(1, 2, 3), stored: "SRID=4326;POINT(1 2 3)" },
  { loc: "geometry(Point, 4326)", type: "geo:json", value: point(1, 2, 3), stored: "SRID=4326;POINT(1 2)" },
  { loc: "geometry", type: "Text", value: "POINT(1 2)", stored: "POINT(1 2)" },
  { loc: "geometry", type: "StructuredValue", value: point(1, 2), stored: "SRID=4326;POINT(1 2)" },
  { loc: "geography", type: "geo:json", value: point(1, 2), stored: "SRID=4326;POINT(1 2)" },
] as const;
for (const [index, { loc, type, value, stored }] of provisioned.entries())
  test(
    `a column ${loc} that somebody made takes ${type} ${JSON.stringify(value)}`,
    { skip },
    onDatabase(async ({ sink, query }) => {
      const schema = `provisioned${index}`;
      await query(`CREATE SCHEMA ${schema}`);
      await query(`CREATE TABLE ${schema}.e_t (${fixedColumns}, loc ${loc})`);

      await sink().persist({ events: [v2Event(v2Entity("e", v2Attribute("loc", type, value)), schema)] }, never);

      const [row] = await query(`SELECT ST_AsEWKT(loc) AS loc FROM ${schema}.e_t`);
      assert.equal(row?.["loc"], stored);
    }),
  );

const unfit = [
  { loc: "geometry(Geometry, 3857)", type: "geo:json", value: point(1, 2) },
  { loc: "geometry(Polygon, 4326)", type: "geo:json", value: point(1, 2) },
  { loc: "geometry", type: "Text", value: "40.1, -3.5" },
  { loc: "geometry", type: "Text", value: "" },
  { loc: "geometry", type: "StructuredValue", value: { type: "Feature" } },
] as const;
for (const [index, { loc, type, value }] of unfit.entries())
  test(
    `what a column ${loc} refuses, such as ${type} ${JSON.stringify(value)}, is refused for good`,
    { skip },
    onDatabase(async ({ sink, query }) => {
      const schema = `unfit${index}`;
      await query(`CREATE SCHEMA ${schema}`);
      await query(`CREATE TABLE ${schema}.e_t (${fixedColumns}, loc ${loc})`);
      const events = [v2Event(v2Entity("e", v2Attribute("loc", type, value)), schema)];

      await assert.rejects(sink().persist({ events }, never), { code: "DATA_REFUSED", retryable: false });
    }),
  );
