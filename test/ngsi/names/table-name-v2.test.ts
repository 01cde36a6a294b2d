import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entity } from "../../../core/ngsi/model.js";
import {
  type Database,
  type DataModel,
  dataModels,
  type Naming,
  refusedModel,
} from "../../../core/ngsi/names/naming.js";
import { databaseName, schemaName, tableName } from "../../../core/ngsi/names/table-name.js";
import { codeOf } from "../../../core/sdk/index.js";

const naming = (dataModel: DataModel, encoding: boolean, database: Database = "postgresql"): Naming => ({
  dataModel,
  encoding,
  database,
  lowercase: false,
});
const car: Entity = { id: "Car.1", type: "carType", api: "v2", attributes: [] };

const tables = [
  { model: "dm-by-service-path", path: "/4wheels", off: "4wheels", on: "x002f4wheels" },
  { model: "dm-by-entity", path: "/", off: "car.1_cartype", on: "x002fxffffx0043arx002e1xffffcarx0054ype" },
  {
    model: "dm-by-entity",
    path: "/a/b",
    off: "a_b_car.1_cartype",
    on: "x002fax002fbxffffx0043arx002e1xffffcarx0054ype",
  },
  { model: "dm-by-entity-type", path: "/", off: "cartype", on: "x002fxffffcartype" },
  { model: "dm-by-entity-type", path: "/w", off: "w_cartype", on: "x002fwxffffcartype" },
  {
    model: "dm-by-attribute",
    path: "/w",
    off: "w_car.1_cartype_speed",
    on: "x002fwxffffx0043arx002e1xffffcarx0054ypexffffspeed",
  },
  { model: "dm-by-fixed-entity-type", path: "/w", off: "cartype", on: "carx0054ype" },
  {
    model: "dm-by-entity-database",
    path: "/w",
    off: "w_car.1_cartype",
    on: "x002fwxffffx0043arx002e1xffffcarx0054ype",
  },
  { model: "dm-by-entity-type-database-schema", path: "/w", off: "w_cartype", on: "x002fwxffffcartype" },
  { model: "dm-by-fixed-entity-type-database", path: "/w", off: "cartype", on: "carx0054ype" },
] as const;
for (const { model, path, off, on } of tables) {
  test(`${model} keeps a v2 entity of path ${path} in table ${off}, encoded ${on}`, () => {
    const place = { servicePath: path, attribute: "speed" };

    assert.equal(tableName(car, naming(model, false), place), off);
    assert.equal(tableName(car, naming(model, true), place), on);
  });
}

const encodedTypes = [
  { model: "dm-by-entity-type", table: "x002fwxffffcarx0054ype" },
  { model: "dm-by-entity-type-database", table: "x002fwxffffcarx0054ype" },
  { model: "dm-by-entity", table: "x002fwxffffx0043arx002e1xffffcarx0054ype" },
] as const;
for (const { model, table } of encodedTypes) {
  test(`${model} with encoded capitals of types keeps a v2 entity in table ${table}`, () =>
    assert.equal(tableName(car, { ...naming(model, true), typeCapitals: true }, { servicePath: "/w" }), table));
}

const mysqlTables = [
  { model: "dm-by-entity", off: "w_Car.1_carType", on: "x002fwxffffCarx002e1xffffcarType" },
  { model: "dm-by-entity-type", off: "w_carType", on: "x002fwxffffcarType" },
  { model: "dm-by-service-path", off: "w", on: "x002fw" },
] as const;
for (const { model, off, on } of mysqlTables) {
  test(`${model} keeps the capitals of a table in MySQL unless enable_lowercase is true`, () => {
    const place = { servicePath: "/w" };

    assert.equal(tableName(car, naming(model, false, "mysql"), place), off);
    assert.equal(tableName(car, naming(model, true, "mysql"), place), on);
    assert.equal(tableName(car, { ...naming(model, false, "mysql"), lowercase: true }, place), off.toLowerCase());
  });
}

test("a v2 entity without a type is told by its id alone, one without an id by its type", () => {
  assert.equal(tableName({ ...car, type: "" }, naming("dm-by-entity", false)), "car.1");
  assert.equal(tableName({ ...car, id: "" }, naming("dm-by-entity", false)), "cartype");
  assert.equal(tableName({ ...car, type: "" }, naming("dm-by-entity", true)), "x002fxffffx0043arx002e1");
});

const places = [
  { model: "dm-by-entity", database: undefined, schema: "open_iot" },
  { model: "dm-by-service-path", database: undefined, schema: "open_iot" },
  { model: "dm-by-entity-database", database: "open_iot", schema: "open_iot" },
  { model: "dm-by-entity-type-database-schema", database: "open_iot", schema: "a_b" },
] as const;
for (const { model, database, schema } of places) {
  test(`${model} in PostgreSQL: database ${database ?? "as configured"}, schema ${schema}`, () => {
    const address = { service: "Open IoT", servicePath: "/a/b", api: "v2" } as const;

    assert.equal(databaseName(address, naming(model, false)), database);
    assert.equal(schemaName(address, naming(model, false)), schema);
  });
}

const schemas = [
  { service: "default", api: "v2", database: "postgresql", schema: "default_service" },
  { service: "default", api: "ld", database: "postgresql", schema: "default" },
  { service: "default", api: "v2", database: "mysql", schema: "default" },
  { service: "OpenIoT", api: "v2", database: "mysql", schema: "OpenIoT" },
  { service: "mysql", api: "v2", database: "mysql", schema: "_mysql" },
  { service: "Information_Schema", api: "v2", database: "mysql", schema: "_Information_Schema" },
  { service: "pg_x", api: "v2", database: "mysql", schema: "pg_x" },
] as const;
for (const { service, api, database, schema } of schemas) {
  test(`service ${service} of ${api} is kept in schema ${schema} of ${database}`, () => {
    const name = schemaName({ service, servicePath: "/", api }, naming("dm-by-entity", false, database));

    assert.equal(name, schema);
  });
}

test("in MySQL the database is the schema, in SQLite there is only the configured one", () => {
  const address = { service: "OpenIoT", servicePath: "/", api: "v2" } as const;

  assert.equal(databaseName(address, naming("dm-by-entity", false, "mysql")), "OpenIoT");
  assert.equal(databaseName(address, naming("dm-by-entity-database", false, "sqlite")), undefined);
});

test("a service named like a template of PostgreSQL gets a database of its own", () => {
  const address = { service: "template1", servicePath: "/", api: "v2" } as const;

  assert.equal(databaseName(address, naming("dm-by-entity-database", false)), "_template1");
});

const nameless = [
  { what: "a table by service path", make: () => tableName(car, naming("dm-by-service-path", false)) },
  {
    what: "a schema by service path",
    make: () =>
      schemaName({ service: "s", servicePath: "/", api: "v2" }, naming("dm-by-entity-database-schema", false)),
  },
  { what: "a table by attribute of no attribute", make: () => tableName(car, naming("dm-by-attribute", false)) },
] as const;
for (const { what, make } of nameless) {
  test(`${what} has no name for the path /`, () => {
    assert.throws(make, (error) => codeOf(error) === "NO_NAME");
  });
}

const refused = {
  postgresql: ["dm-by-service", "dm-by-entity-id"],
  mysql: [
    "dm-by-service",
    "dm-by-entity-id",
    "dm-by-entity-database-schema",
    "dm-by-entity-type-database-schema",
    "dm-by-fixed-entity-type-database-schema",
  ],
  sqlite: ["dm-by-service", "dm-by-entity-id", ...dataModels.filter((model) => model.includes("-database"))],
} satisfies Record<Database, readonly DataModel[]>;
for (const database of ["postgresql", "mysql", "sqlite"] as const) {
  test(`${database} refuses ${refused[database].join(", ")} and nothing else`, () => {
    const actual = dataModels.filter((model) => refusedModel(model, database) !== undefined);

    assert.deepEqual(actual.toSorted(), [...refused[database]].toSorted());
  });
}
