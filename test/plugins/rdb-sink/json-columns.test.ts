import assert from "node:assert/strict";
import { after, test } from "node:test";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { ldEvent } from "./ld-events.js";
import { type LoggingSink, never, sinkOf } from "./sinks.js";
import { type Given, v2Attribute, v2Entity, v2Event } from "./v2-events.js";

const database = await postgresqlDatabase();
after(() => database?.drop());
const skip = database === undefined ? "PostgreSQL is not reachable" : false;

type Query = NonNullable<typeof database>["query"];

/** Runs with a database and a sink that writes to it. */
function onDatabase(config: Parameters<typeof sinkOf>[0], run: (query: Query, made: LoggingSink) => Promise<void>) {
  return async () => {
    if (database === undefined) throw new Error("PostgreSQL is not reachable");
    const { host, port, user, password } = database;
    const server = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password };
    const made = sinkOf({ ...server, rdb_database: database.database, ...config });
    try {
      await run(database.query, made);
    } finally {
      await made.sink.stop(never);
    }
  };
}

const fixed = "recvtime text, fiwareservicepath text, entityid text, entitytype text";
const event = (value: Given, schema: string) =>
  v2Event(v2Entity("e", v2Attribute("a", "json", value, { u: "C" })), schema);

for (const type of ["json", "jsonb"])
  for (const attr_native_types of [false, true]) {
    const schema = `${type}_${attr_native_types}`;
    test(
      `columns of ${type} of another program get metadata and texts of NGSI v2 as the JSON that they hold, native types: ${attr_native_types}`,
      { skip },
      onDatabase({ attr_native_types }, async (query, { sink }) => {
        await query(`CREATE SCHEMA ${schema}`);
        await query(`CREATE TABLE ${schema}.e_t (${fixed}, a ${type}, a_md ${type})`);

        const values = ['{"k": "x"}', "[1]", { k: "x" }, "{no", "5", "text", 5];
        for (const value of values) await sink.persist({ events: [event(value, schema)] }, never);

        const rows = await query(
          `SELECT ${type}_typeof(a) AS kind, a->>'k' AS k, a_md->0->>'value' AS unit FROM ${schema}.e_t`,
        );
        const text = { kind: "string", k: null, unit: "C" };
        assert.deepEqual(rows, [
          { kind: "object", k: "x", unit: "C" },
          { kind: "array", k: null, unit: "C" },
          { kind: "object", k: "x", unit: "C" },
          text,
          text,
          text,
          { kind: "number", k: null, unit: "C" },
        ]);
      }),
    );
  }

test(
  "in the row layout, too",
  { skip },
  onDatabase({ attr_persistence: "row" }, async (query, { sink }) => {
    await query("CREATE SCHEMA json_rows");
    await query(
      `CREATE TABLE json_rows.e_t (recvtimets text, ${fixed}, attrname text, attrtype text, attrvalue json, attrmd jsonb)`,
    );

    await sink.persist({ events: [event('{"k": "x"}', "json_rows")] }, never);

    const rows = await query("SELECT attrvalue->>'k' AS k, attrmd->0->>'value' AS unit FROM json_rows.e_t");
    assert.deepEqual(rows, [{ k: "x", unit: "C" }]);
  }),
);

test(
  "a text of NGSI-LD stays a text in a column of JSON",
  { skip },
  onDatabase({ attr_native_types: true }, async (query, { sink }) => {
    const property = (value: object | string) => ldEvent("e", { a: { type: "Property", value } }, "json_ld");

    await sink.persist({ events: [property({ k: 1 })] }, never);
    await sink.persist({ events: [property('{"k": 1}')] }, never);

    const rows = await query("SELECT jsonb_typeof(a) AS kind FROM json_ld.e");
    assert.deepEqual(rows, [{ kind: "object" }, { kind: "string" }]);
  }),
);

test(
  "beside a column of another type a text is a JSON string, whatever it holds",
  { skip },
  onDatabase({ attr_native_types: true }, async (query, { sink }) => {
    await sink.persist({ events: [event(5, "json_beside")] }, never);
    await sink.persist({ events: [event('{"k": "x"}', "json_beside")] }, never);

    const rows = await query('SELECT "a$json" AS beside FROM json_beside.e_t WHERE a IS NULL');
    assert.deepEqual(rows, [{ beside: JSON.stringify('{"k": "x"}') }]);
  }),
);

test(
  "a column of text that somebody makes one of JSON takes what follows as JSON",
  { skip },
  onDatabase({}, async (query, { sink }) => {
    await sink.persist({ events: [event("first", "altered")] }, never);
    await query("ALTER TABLE altered.e_t ALTER COLUMN a TYPE jsonb USING to_jsonb(a)");

    await sink.persist({ events: [event("then", "altered"), event({ k: "x" }, "altered")] }, never);

    const rows = await query("SELECT a FROM altered.e_t ORDER BY ctid");
    assert.deepEqual(rows, [{ a: '"first"' }, { a: '"then"' }, { a: '{"k": "x"}' }]);
  }),
);
