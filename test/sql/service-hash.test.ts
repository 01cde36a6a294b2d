import assert from "node:assert/strict";
import { test } from "node:test";
import { type Naming, withServiceHash } from "../../core/ngsi/index.js";
import { Admission } from "../../core/sql/rows/admission.js";
import { schemasBy } from "../../core/sql/rows/table-placement.js";
import { mysql } from "../../plugins/rdb-sink/mysql/dialect.js";
import { postgresql } from "../../plugins/rdb-sink/postgresql/dialect.js";

const dialects = { postgresql, mysql };
const admission = new Admission({ allowed_services: [], protected_schemas: [] });
const plain: Naming = {
  dataModel: "dm-by-entity",
  encoding: false,
  database: "postgresql",
  lowercase: false,
  serviceHash: true,
};

function schemaOf(service: string, own: Partial<Naming>, api: "ld" | "v2" = "ld") {
  const naming = { ...plain, ...own };
  const dialect = naming.database === "mysql" ? dialects.mysql : dialects.postgresql;
  return schemasBy({ naming, dialect, admission, stores: () => undefined })({ service, servicePath: "/a/b", api });
}

const cases: readonly { readonly service: string; readonly own?: Partial<Naming>; readonly schema: RegExp }[] = [
  { service: "farmx", schema: /^farmx$/ },
  { service: "FARMX", schema: /^farmx_[0-9a-f]{8}$/ },
  { service: "a_b", schema: /^a_b$/ },
  { service: "a b", schema: /^a_b_[0-9a-f]{8}$/ },
  { service: "", schema: /^__[0-9a-f]{8}$/ },
  { service: "deneb", schema: /^_deneb_[0-9a-f]{8}$/ },
  { service: "_deneb", schema: /^_deneb$/ },
  { service: "pg_x", schema: /^_pg_x_[0-9a-f]{8}$/ },
  { service: `A${"é".repeat(80)}`, schema: /^a_{53}_[0-9a-f]{8}$/ },
  { service: "FARMX", own: { encoding: true }, schema: /^x0046x0041x0052x004dx0058$/ },
  { service: "pg_x", own: { encoding: true }, schema: /^_pg_x_[0-9a-f]{8}$/ },
  { service: "FARMX", own: { database: "mysql" }, schema: /^FARMX$/ },
  { service: "FARMX", own: { database: "mysql", lowercase: true }, schema: /^farmx_[0-9a-f]{8}$/ },
];

for (const { service, own = {}, schema } of cases)
  test(`with a hash of the service, ${JSON.stringify(service)} has schema ${schema.source} ${JSON.stringify(own)}`, () =>
    assert.match(schemaOf(service, own).schema, schema));

test("with a hash of the service, the default service of NGSI v2 has another schema than default_service", () => {
  assert.notEqual(schemaOf("default", {}, "v2").schema, schemaOf("default_service", {}, "v2").schema);
});

test("with a hash of the service, a database of its own has it too, and a schema of the service path has not", () => {
  const { database, schema } = schemaOf("FARMX", { dataModel: "dm-by-entity-database-schema" });

  assert.match(database, /^farmx_[0-9a-f]{8}$/);
  assert.equal(schema, "a_b");
});

test("the hash of a service is the same everywhere", () => {
  assert.equal(withServiceHash("farmx", "FARMX", plain), withServiceHash("farmx", "FARMX", { ...plain }));
  assert.notEqual(withServiceHash("farmx", "FARMX", plain), withServiceHash("farmx", "FarmX", plain));
});
