import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AgentError, retryableOf } from "../../../core/sdk/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { testedDatabases } from "./databases.js";
import { persist } from "./on-every-database.js";
import { entity, eventOf, never } from "./sinks.js";

const { databases, drop } = await testedDatabases();
after(drop);
const sqlite = databases.find(({ name }) => name === "SQLite") ?? assert.fail();

const columns = "recvtime text, entityid text, entitytype text, p text";
const tables = {
  'with a column "_rowid_" of one value': `(${columns}, _rowid_ text DEFAULT 'x')`,
  'with a column "_RowId_" of NULL': `(${columns}, "_RowId_" text)`,
  'with columns "_rowid_" and "rowid"': `(${columns}, _rowid_ text DEFAULT 'x', rowid text DEFAULT 'x')`,
  'with a generated column "_rowid_"': `(${columns}, _rowid_ text AS ('x'))`,
  "that is WITHOUT ROWID": `(${columns}, "a ""key""" integer DEFAULT (random()), PRIMARY KEY ("a ""key""", entityid)) WITHOUT ROWID`,
};
const byType: Partial<RdbConfig> = { data_model: "dm-by-entity-type" };

/** A table of somebody else for the entities of type T, and a sink that writes to it. */
async function tableOfOthers(context: Parameters<typeof sqlite.place>[0], table: string, config: Partial<RdbConfig>) {
  const place = await sqlite.place(context);
  const other = await place.sink();
  await persist(other, eventOf(entity("first", { p: "0" }), "s"));
  await place.alter("s", "t", `CREATE TABLE @ ${table}`);
  return { place, sink: await place.sink({ ...byType, ...config }) };
}

for (const [kind, table] of Object.entries(tables)) {
  test(`in a table ${kind} an erasure deletes the rows of its entity only`, async (context) => {
    const { place, sink } = await tableOfOthers(context, table, {});
    for (const id of ["a", "b", "a", "c"]) await persist(sink, eventOf(entity(id, { p: "1" }), "s"));

    const erasure = await place.data(byType).erase?.({ entity: "a" }, false, never);

    assert.deepEqual([erasure?.erased.map(({ rows }) => rows), erasure?.left], [[2], []]);
    const left = await place.select("s", "t", "SELECT entityid FROM @ ORDER BY entityid");
    assert.deepEqual(left, [{ entityid: "b" }, { entityid: "c" }]);
  });

  test(`from a table ${kind} excess rows and old rows are deleted, and no others`, async (context) => {
    const { place, sink } = await tableOfOthers(context, table, { "persistence_policy.max_records": 2 });
    const at = (time: string) => {
      const { headers, body } = eventOf(entity(time, { p: "1" }), "s");
      return { headers: { ...headers, timestamp: String(Date.parse(time)) }, body };
    };
    const times = ["2020-05-13T10:00:00Z", "2020-05-14T14:40:00Z", "2020-05-13T11:00:00Z"];
    const ids = () => place.select("s", "t", "SELECT entityid FROM @ ORDER BY entityid");

    for (const time of times) await persist(sink, at(time));
    const capped = await ids();
    const policy = { ...byType, "persistence_policy.expiration_time": 3600 };
    const sweeper = await place.sink(policy, () => new Date("2020-05-14T14:46:21.918Z"));
    await sweeper.sink.sweep();

    assert.deepEqual(capped, [{ entityid: times[2] }, { entityid: times[1] }]);
    assert.deepEqual(await ids(), [{ entityid: times[1] }]);
  });
}

test("of a table with columns of all names of the row id nothing is erased, and the erasure says why", async (context) => {
  const names = ["_rowid_", "rowid", "oid"].map((name) => `${name} text DEFAULT 'x'`).join(", ");
  const { place, sink } = await tableOfOthers(context, `(${columns}, ${names})`, {});
  await persist(sink, eventOf(entity("a", { p: "1" }), "s"), eventOf(entity("b", { p: "1" }), "s"));

  const erasure = await place.data(byType).erase?.({ entity: "a" }, false, never);

  assert.deepEqual(erasure?.erased, []);
  assert.match(
    erasure?.left[0]?.reason ?? "",
    /columns _rowid_, rowid, oid, so that nothing identifies its rows; rename one/,
  );
  assert.equal((await place.rows("s", "t")).length, 2);
});

const refusals = [
  {
    what: "that a STRICT table refuses",
    table: "(recvtime text, entityid text, entitytype text, p blob) STRICT",
    says: /cannot store TEXT value in BLOB column t\.p/,
    stored: undefined,
  },
  {
    what: "for a generated column",
    table: "(recvtime text, entityid text, entitytype text, p text AS (entityid) STORED)",
    says: /cannot INSERT into generated column "p"/,
    stored: "b",
  },
];
for (const { what, table, says, stored } of refusals)
  test(`a value ${what} is refused for good, and later rows are stored`, async (context) => {
    const { place, sink } = await tableOfOthers(context, table, {});
    const [bad, good] = [eventOf(entity("a", { p: "1" }), "s"), eventOf(entity("b", { q: "1" }), "s")];

    const error: unknown = await persist(sink, bad, good).catch((reason: unknown) => reason);

    assert.ok(error instanceof AgentError);
    assert.equal(error.code, "DATA_REFUSED");
    assert.match(error.message, says);
    assert.equal(retryableOf(error), false);
    await persist(sink, good);
    assert.deepEqual(await place.select("s", "t", "SELECT entityid, p FROM @"), [{ entityid: "b", p: stored }]);
  });
