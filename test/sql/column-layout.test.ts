import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { type Attribute, decode, type Entity } from "../../core/ngsi/index.js";
import { ColumnLayout } from "../../core/sql/rows/column-layout.js";
import { attribute, entity, receivedAt } from "../plugins/rdb-sink/sinks.js";

const reserved = {
  naming: { database: "postgresql", lowercase: false },
  keys: new Set(["recvtime", "entityid", "entitytype", "ctid"]),
} as const;
const arrival = { epochMillis: Date.parse(receivedAt), servicePath: "/" } as const;

const layoutWith = (nativeTypes: boolean) => new ColumnLayout({ nativeTypes, metadata: true }, reserved);
const rowOf = (body: Entity, nativeTypes = false) => layoutWith(nativeTypes).rows(body, arrival)[0];

const ldEntity = (members: Readonly<Record<string, unknown>>): Entity => {
  const text = JSON.stringify({ type: "Notification", data: [{ id: "e", type: "T", ...members }] });
  const [body = entity("e", {})] = decode("ld", text, {}).entities;
  return body;
};
const of = (...attributes: readonly Attribute[]): Entity => ({ id: "e", type: "T", attributes });
const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 8);

const cases = [
  {
    name: "an attribute and its members",
    body: of(attribute("Speed", "1", { unitCode: "2" })),
    columns: ["speed", "speed_unitcode"],
  },
  {
    name: "members of a member",
    body: ldEntity({ t: { type: "Property", value: 1, acc: { type: "Property", value: 2, unitCode: "P1" } } }),
    columns: ["t", "t_acc", "t_acc_md"],
  },
  {
    name: "a time of a member",
    body: ldEntity({
      t: { type: "Property", value: 1, acc: { type: "Property", value: 2, observedAt: "2020-01-01" } },
    }),
    columns: ["t", "t_acc"],
  },
  {
    name: "several instances of an attribute",
    body: ldEntity({ t: [1, 2].map((value) => ({ type: "Property", value, datasetId: `urn:${value}` })) }),
    columns: ["t", "t_datasetid", "t_datasets"],
  },
  {
    name: "a member that is spelled like its instances, and an attribute like the members of a member",
    body: ldEntity({
      t: ["@none", "urn:d"].map((datasetId) => ({
        type: "Property",
        value: 1,
        datasetId,
        datasets: { type: "Property", value: 1, unitCode: "A" },
      })),
      t_datasets_md: { type: "Property", value: 3 },
    }),
    columns: [
      "t",
      "t_datasetid",
      `t_datasets_${hash("t\0datasets")}`,
      `t_datasets_md_${hash("t\0datasets\0md")}`,
      `t_datasets_${hash("t\0\0datasets")}`,
      "t_datasets_md",
    ],
  },
  {
    name: "the name of the column of members",
    body: entity("e", { deneb$members: "1" }),
    columns: [`deneb$members_${hash("deneb$members")}`],
  },
  {
    name: "two spellings, one of them exact",
    body: entity("e", { Temp: "1", temp: "2" }),
    columns: [`temp_${hash("Temp")}`, "temp"],
  },
  {
    name: "two spellings, none of them exact",
    body: entity("e", { Temp: "1", TEMP: "2" }),
    columns: [`temp_${hash("Temp")}`, `temp_${hash("TEMP")}`],
  },
  {
    name: "the names of the fixed columns",
    body: entity("e", { recvTime: "1", entityid: "2" }),
    columns: [`recvtime_${hash("recvTime")}`, `entityid_${hash("entityid")}`],
  },
  { name: "a name that the database reserves", body: entity("e", { ctid: "1" }), columns: [`ctid_${hash("ctid")}`] },
  {
    name: "an attribute that is spelled like a member",
    body: of(attribute("a", "1", { b: "2" }), attribute("a_b", "3")),
    columns: ["a", `a_b_${hash("a\0b")}`, "a_b"],
  },
  {
    name: "two members of one spelling",
    body: of(attribute("a", "1", { b_c: "2" }), attribute("a_b", "3", { c: "4" })),
    columns: ["a", `a_b_c_${hash("a\0b_c")}`, "a_b", `a_b_c_${hash("a_b\0c")}`],
  },
  {
    name: "an attribute with the name of another's suffixed column",
    body: entity("e", { temp: "1", Temp: "2", [`temp_${hash("Temp")}`]: "3" }),
    columns: ["temp", `temp_${hash(`Temp\0${1}`)}`, `temp_${hash("Temp")}`],
  },
] as const;

for (const { name, body, columns } of cases)
  test(`columns of an entity with ${name}`, () => {
    const row = rowOf(body);

    assert.deepEqual(row?.columns, ["recvtime", "entityid", "entitytype", ...columns]);
    assert.equal(row?.cells.length, row?.columns.length);
  });

test("a suffixed column has at most 63 bytes", () => {
  const name = "É".repeat(29);

  const row = rowOf(entity("e", { [`${name}A`]: "1", [`${name}a`]: "2" }));

  for (const column of row?.columns ?? []) assert.ok(Buffer.byteLength(column) <= 63, column);
  assert.equal(new Set(row?.columns).size, 5);
});

test("an entity with members of members does not get the columns of one without", () => {
  const layout = layoutWith(false);
  const plain = { type: "Property", value: 2 };
  const bodies = [{ ...plain }, { ...plain, unitCode: "P1" }, { ...plain }].map((acc) =>
    ldEntity({ t: { type: "Property", value: 1, acc } }),
  );

  const rows = bodies.flatMap((body) => layout.rows(body, arrival));

  assert.deepEqual(
    rows.map(({ cells }) => cells.slice(3)),
    [
      ["1", "2"],
      ["1", "2", '{"unitCode":"P1"}'],
      ["1", "2"],
    ],
  );
  assert.deepEqual(
    rows.map(({ columns }) => columns.length),
    [5, 6, 5],
  );
});

test("entities with the same attributes share one list of columns", () => {
  const layout = layoutWith(false);

  const [first, second] = ["1", "2"].flatMap((id) => layout.rows(entity(id, { a: id }), arrival));

  assert.equal(first?.columns, second?.columns);
});

for (const nativeTypes of [false, true])
  test(`a simplified null with attr_native_types = ${nativeTypes}`, () => {
    const body = of({ name: "a", form: "simplified", value: { kind: "null", text: "null" }, members: [] });

    const row = rowOf(body, nativeTypes);

    assert.deepEqual(row?.cells.slice(3), [nativeTypes ? undefined : "null"]);
  });

const unstorable = [
  { name: "value", body: entity("e", { a: "x\0y" }) },
  { name: "name", body: entity("e", { "x\0y": "1" }) },
  { name: "member", body: of(attribute("a", "1", { "\0": "1" })) },
  { name: "id", body: entity("x\0y", { a: "1" }) },
] as const;

for (const { name, body } of unstorable)
  test(`NUL in a ${name} is refused permanently`, () => {
    assert.throws(() => rowOf(body), { code: "VALUE_NOT_STORABLE", retryable: false });
  });

test("half a surrogate pair is refused permanently, a whole one is stored", () => {
  assert.throws(() => rowOf(entity("e", { a: "\ud83d" })), { code: "VALUE_NOT_STORABLE" });
  assert.deepEqual(rowOf(entity("e", { a: "\ud83d\ude00" }))?.cells.slice(3), ["😀"]);
});

test("an entity without attributes has no row", () => {
  assert.equal(rowOf(entity("e", {})), undefined);
});
