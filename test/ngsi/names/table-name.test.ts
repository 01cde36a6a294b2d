import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entity } from "../../../core/ngsi/model.js";
import { columnName } from "../../../core/ngsi/names/column-name.js";
import { shorten } from "../../../core/ngsi/names/encoding.js";
import type { DataModel, Naming } from "../../../core/ngsi/names/naming.js";
import { schemaName, tableName } from "../../../core/ngsi/names/table-name.js";
import { codeOf } from "../../../core/sdk/index.js";

const naming = (encoding: boolean, dataModel: DataModel = "dm-by-entity"): Naming => ({
  dataModel,
  encoding,
  database: "postgresql",
  lowercase: false,
});
const entity = (id: string, type = "T"): Entity => ({ id, type, attributes: [] });

const schemas = [
  { service: "OpenIoT", encoding: false, schema: "openiot" },
  { service: "smart-city.es", encoding: false, schema: "smart-city.es" },
  { service: "smart city", encoding: false, schema: "smart_city" },
  { service: "someService", encoding: true, schema: "somex0053ervice" },
  { service: "", encoding: false, schema: "_" },
  { service: "", encoding: true, schema: "_" },
  { service: "pg_catalog", encoding: false, schema: "_pg_catalog" },
  { service: "PG_temp", encoding: false, schema: "_pg_temp" },
  { service: "information_schema", encoding: true, schema: "_information_schema" },
  { service: "pgadmin", encoding: false, schema: "pgadmin" },
] as const;
for (const { service, encoding, schema } of schemas) {
  test(`service "${service}" is kept in schema ${schema}, encoding ${encoding}`, () =>
    assert.equal(schemaName({ service, servicePath: "/", api: "ld" }, naming(encoding)), schema));
}

const tables = [
  { id: "urn:ngsi-ld:Shelf:unit001", encoding: false, table: "urn_ngsi_ld_shelf_unit001" },
  { id: "urn.a b/c", encoding: false, table: "urn_a_b_c" },
  { id: "urn:é:ü", encoding: false, table: "urn____" },
  { id: "4wheels", encoding: false, table: "4wheels" },
  {
    id: "urn:ngsi-ld:Vehicle:V123",
    encoding: true,
    table: "urnx003angsix002dldx003ax0056ehiclex003ax0056123",
  },
] as const;
for (const { id, encoding, table } of tables) {
  test(`entity ${id} is kept in table ${table}, encoding ${encoding}`, () =>
    assert.equal(tableName(entity(id), naming(encoding)), table));
}

const tablesByType = [
  { type: "T", encoding: false, table: "t" },
  { type: "https://uri.fiware.org/ns#Device", encoding: false, table: "https___uri_fiware_org_ns_device" },
  { type: "[A,B]", encoding: false, table: "_a_b_" },
  { type: "Car", encoding: true, table: "x0043ar" },
] as const;
for (const { type, encoding, table } of tablesByType) {
  test(`entities of type ${type} are kept in table ${table}, encoding ${encoding}`, () =>
    assert.equal(tableName(entity("urn:x", type), naming(encoding, "dm-by-entity-type")), table));
}

const rootPaths = [
  { dataModel: "dm-by-service-path", encoding: false, schema: "s", table: "_" },
  { dataModel: "dm-by-service-path", encoding: true, schema: "s", table: "x002f" },
  { dataModel: "dm-by-entity-database-schema", encoding: false, schema: "_", table: "urn_x" },
  { dataModel: "dm-by-entity-type-database-schema", encoding: false, schema: "_", table: "t" },
  { dataModel: "dm-by-fixed-entity-type-database-schema", encoding: true, schema: "x002f", table: "x0054" },
] as const;
for (const { dataModel, encoding, schema, table } of rootPaths) {
  test(`by ${dataModel} NGSI-LD is kept at the root path: ${schema}.${table}, encoding ${encoding}`, () => {
    const names = naming(encoding, dataModel);

    assert.equal(schemaName({ service: "s", servicePath: "/", api: "ld" }, names), schema);
    assert.equal(tableName(entity("urn:x"), names), table);
  });
}

test("a data model without tables for NGSI-LD is an error that names it", () => {
  assert.throws(
    () => tableName(entity("urn:x"), naming(false, "dm-by-service")),
    (error: Error) => codeOf(error) === "UNSUPPORTED_DATA_MODEL" && error.message.includes('"dm-by-service"'),
  );
});

const columns = [
  { name: "availableSpotNumber_observedAt", column: "availablespotnumber_observedat" },
  { name: "foo:bar a-b", column: "foo:bar a-b" },
  { name: "ÑAndu", column: "Ñandu" },
  { name: "__proto__", column: "__proto__" },
  { name: "a\0b", column: "a_b" },
  { name: "", column: "_" },
] as const;
for (const { name, column } of columns) {
  test(`attribute ${JSON.stringify(name)} is kept in column "${column}"`, () => assert.equal(columnName(name), column));
}

test("a name of exactly the limit is kept", () => assert.equal(shorten("a".repeat(63)), "a".repeat(63)));

const long = [
  { name: "a".repeat(64), shortened: `${"a".repeat(54)}_ffe054fe` },
  { name: "é".repeat(40), shortened: `${"é".repeat(27)}_84fe2e03` },
  { name: `a${"é".repeat(40)}`, shortened: `a${"é".repeat(26)}_4831141c` },
  { name: "😀".repeat(20), shortened: `${"😀".repeat(13)}_01cf2c1a` },
] as const;
for (const { name, shortened } of long) {
  test(`${name} is cut between characters and ends in a hash of the full name`, () => {
    assert.equal(shorten(name), shortened);
    assert.ok(Buffer.byteLength(shortened) <= 63);
  });
}

test("two long names that differ at their ends stay apart", () => {
  const id = "urn:ngsi-ld:OffStreetParking:Downtown:Level:1:Row:2:Spot:number:";

  assert.notEqual(tableName(entity(`${id}1`), naming(false)), tableName(entity(`${id}2`), naming(false)));
});
