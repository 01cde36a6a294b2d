import assert from "node:assert/strict";
import { test } from "node:test";
import { type Entity, type Naming, tableName } from "../../core/ngsi/index.js";
import { TableNames, type TableParts } from "../../core/sql/rows/table-names.js";
import { postgresql } from "../../plugins/rdb-sink/postgresql/dialect.js";

const naming: Naming = { dataModel: "dm-by-entity", encoding: false, database: "postgresql", lowercase: false };
const entity: Entity = { id: "room1", type: "Room", api: "v2", attributes: [] };
const parts: TableParts = {
  schemaName: { database: "", schema: "a" },
  servicePath: "/x",
  attribute: undefined,
  subject: "room1",
};

const others = {
  "another type": { entity: { ...entity, type: "Hall" }, parts },
  "another API": { entity: { id: "room1", type: "Room", attributes: [] }, parts },
  "another service path": { entity, parts: { ...parts, servicePath: "/y" } },
  "another schema": { entity, parts: { ...parts, schemaName: { database: "", schema: "b" } } },
  "another database": { entity, parts: { ...parts, schemaName: { database: "d", schema: "a" } } },
} as const;
for (const [name, other] of Object.entries(others))
  test(`an entity with the same id and ${name} does not get the table that is remembered`, () => {
    const names = new TableNames(naming, postgresql);
    const tableOf = (one: Entity, { schemaName, servicePath }: TableParts) => ({
      ...schemaName,
      table: tableName(one, naming, { servicePath }),
    });

    for (const one of [{ entity, parts }, other, { entity, parts }]) {
      assert.deepEqual(names.of(one.entity, one.parts), tableOf(one.entity, one.parts));
    }
  });

test("each attribute of an entity has its own table", () => {
  const names = new TableNames({ ...naming, dataModel: "dm-by-attribute" }, postgresql);
  const tables = ["a", "b", "a"].map((attribute) => names.of(entity, { ...parts, attribute }).table);

  assert.deepEqual(tables, ["x_room1_room_a", "x_room1_room_b", "x_room1_room_a"]);
});
