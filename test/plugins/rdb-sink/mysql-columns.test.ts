import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Attribute } from "../../../core/ngsi/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { mysqlServer, type TestServer } from "../../support/mysql.js";
import { foldsUnicode } from "./folding-server.js";
import { attribute, entity, eventOf, type LoggingSink, never, onMysql, sinkOf } from "./sinks.js";

const server = await mysqlServer();
after(() => server?.drop());
const skip = server === undefined ? "MySQL is not reachable" : false;
const folds = await foldsUnicode(server);

interface Given {
  readonly server: TestServer;
  readonly made: LoggingSink;
  readonly service: string;
}

/** Last data with a row for each unit of an entity, in tables by type. */
const ofUnits: Partial<RdbConfig> = {
  data_model: "dm-by-entity-type",
  attr_native_types: true,
  last_data_mode: "upsert",
  last_data_unique_key: ["entityId", "unit"],
  last_data_timestamp_key: "sequence",
  notification_columns: ["sequence"],
};

let services = 0;

function onServer(run: (given: Given) => Promise<void>, config: Partial<RdbConfig>) {
  return async () => {
    if (server === undefined) throw new Error("MySQL is not reachable");
    const made = sinkOf({ ...onMysql(server), ...config });
    services += 1;
    try {
      await run({ server, made, service: `${server.prefix}columns${services}` });
    } finally {
      await made.sink.stop(never);
    }
  };
}

test(
  "entities of a batch whose attributes differ in letter case only share a column, in history and in last data",
  { skip },
  onServer(
    async ({ server, made, service }) => {
      const events = ["temp", "Temp", "TEMP"].map((name, index) =>
        eventOf(entity(`e${index}`, { [name]: `${index}` }), service),
      );

      await made.sink.persist({ events }, never);
      await made.sink.persist({ events: events.toReversed() }, never);

      const history = await server.query(`SELECT entityId, Temp FROM ${service}.T ORDER BY entityId`);
      assert.deepEqual(
        history,
        [0, 0, 1, 1, 2, 2].map((value) => ({ entityId: `e${value}`, Temp: `${value}` })),
      );
      const last = await server.query(`SELECT entityId, Temp FROM ${service}.T_last_data ORDER BY entityId`);
      assert.deepEqual(
        last,
        [0, 1, 2].map((value) => ({ entityId: `e${value}`, Temp: `${value}` })),
      );
    },
    { data_model: "dm-by-entity-type", last_data_mode: "both", enable_lowercase: false },
  ),
);

test(
  "in a wide table of last data members are emptied whose names have capitals of more bytes than their small letters",
  { skip },
  onServer(
    async ({ server, made, service }) => {
      const wide = Array.from({ length: 30 }, (_, index) => attribute(`a${index}`, "1"));
      const store = (sequence: string, ...attributes: readonly Attribute[]) => {
        const { headers, body } = eventOf({ ...entity("e", {}), attributes }, service);
        return made.sink.persist({ events: [{ headers: { ...headers, sequence }, body }] }, never);
      };

      await store("1", ...wide, attribute("İL", "1", { unitCode: "C62" }));
      await store("2", attribute("İL", "2"));

      const rows = await server.query(`SELECT a0, İL, İL_unitCode FROM ${service}.e_last_data`);
      assert.deepEqual(rows, [{ a0: "1", İL: "2", İL_unitCode: null }]);
    },
    { last_data_mode: "upsert", last_data_timestamp_key: "sequence", notification_columns: ["sequence"] },
  ),
);

test(
  "attributes with the names that InnoDB has for itself are stored",
  { skip },
  onServer(async ({ server, made, service }) => {
    const names = ["DB_ROW_ID", "db_trx_id", "Db_Roll_Ptr", "FTS_DOC_ID", "fts_doc_id"];
    const values = Object.fromEntries(names.map((name) => [name, `value of ${name}`]));

    await made.sink.persist({ events: [eventOf(entity("e", values), service)] }, never);

    const [row] = await server.query(`SELECT * FROM ${service}.e`);
    for (const value of Object.values(values)) assert.ok(Object.values(row ?? {}).includes(value), value);
  }, {}),
);

test(
  "an attribute with the name of the hidden key that MySQL adds does not write to that key",
  { skip },
  onServer(
    async ({ server, made, service }) => {
      await server.query(`CREATE DATABASE ${service}`);
      await server.query(`CREATE TABLE ${service}.e (my_row_id bigint unsigned NOT NULL AUTO_INCREMENT INVISIBLE,
        recvTime text, entityId text, entityType text, PRIMARY KEY (my_row_id))`);
      const largest = "18446744073709551615";
      const store = (attributes: Record<string, string>) =>
        made.sink.persist({ events: [eventOf(entity("e", attributes), service)] }, never);

      await store({ my_row_id: largest });
      await store({ MY_ROW_ID: largest });
      await store({ a: "1" });

      const columns = await server.query(`SELECT * FROM ${service}.e ORDER BY my_row_id`);
      const values = columns.map(({ recvTime: _time, entityId: _id, entityType: _type, ...others }) => others);
      assert.deepEqual(
        values.map((row) => Object.values(row).filter((cell) => cell !== null)),
        [[largest], [largest], ["1"]],
      );
      assert.deepEqual(await server.query(`SELECT my_row_id FROM ${service}.e ORDER BY my_row_id`), [
        { my_row_id: "1" },
        { my_row_id: "2" },
        { my_row_id: "3" },
      ]);
    },
    { enable_lowercase: false },
  ),
);

test(
  "each column of a wide table takes its values where the server confuses none",
  { skip: folds ? false : "needs MariaDB 11.5 or later" },
  onServer(async ({ server, made, service }) => {
    const wide = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`a${index}`, "1"]));

    await made.sink.persist({ events: [eventOf(entity("e", { ...wide, é: "1", è: "2" }), service)] }, never);

    assert.deepEqual(await server.query(`SELECT é, è FROM ${service}.e`), [{ é: "1", è: "2" }]);
  }, {}),
);

test(
  "a wide table whose columns the server confuses takes no value for them, and the error table has what was refused",
  { skip: folds ? "this server confuses none" : skip },
  onServer(
    async ({ server, made, service }) => {
      const wide = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`a${index}`, "1"]));
      const store = (id: string, attributes: Record<string, string>) =>
        made.sink.persist({ events: [eventOf({ ...entity(id, attributes), type: id }, service)] }, never);
      await store("narrow", { é: "1", è: "2" });
      await store("wide", { ...wide, é: "1", año: "2" });

      await assert.rejects(store("wide", { è: "3" }), {
        code: "DATA_REFUSED",
        retryable: false,
        message:
          /among its 36 columns the database takes "è" and "é" for one; give one of the attributes another name .* attr_persistence = row/,
      });
      await assert.rejects(store("both", { ...wide, é: "1", è: "2" }), { code: "DATA_REFUSED" });
      await store("wide", { é: "4", anno: "5", año: "6" });

      assert.deepEqual(await server.query(`SELECT é, è FROM ${service}.narrow`), [{ é: "1", è: "2" }]);
      assert.deepEqual(await server.query(`SELECT é, anno, año FROM ${service}.wide`), [
        { é: "1", anno: null, año: "2" },
        { é: "4", anno: "5", año: "6" },
      ]);

      await made.sink.stop(never);
      const refused = await server.query(`SELECT query FROM ${service}.${service}_error_log ORDER BY timestamp`);
      assert.match(refused[0]?.["query"] ?? "", /INSERT INTO .*`è`.*"3"/);
      assert.equal(refused.length, 2);
    },
    { persist_errors: true },
  ),
);

for (const attr_native_types of [false, true])
  test(
    `an attribute that the server takes for a column of a name with other bytes is stored there, native types ${attr_native_types}`,
    { skip: folds ? "for this server they are two columns" : skip },
    onServer(
      async ({ server, made, service }) => {
        const store = (sequence: string, name: string) => {
          const { headers, body } = eventOf(entity("e", { [name]: sequence }), service);
          return made.sink.persist({ events: [{ headers: { ...headers, sequence }, body }] }, never);
        };

        for (const [at, name] of ["İ", "i", "İ", "K", "\u212a"].entries()) await store(`${at}`, name);

        assert.deepEqual(await server.query(`SELECT İ, K FROM ${service}.e ORDER BY sequence`), [
          { İ: "0", K: null },
          { İ: "1", K: null },
          { İ: "2", K: null },
          { İ: null, K: "3" },
          { İ: null, K: "4" },
        ]);
        assert.deepEqual(await server.query(`SELECT İ, K FROM ${service}.e_last_data`), [{ İ: "2", K: "4" }]);
      },
      {
        attr_native_types,
        last_data_mode: "both",
        last_data_timestamp_key: "sequence",
        notification_columns: ["sequence"],
      },
    ),
  );

test(
  "a key of last data is the text that was sent, so that a row is found again after a restart, whatever the type of its values",
  { skip },
  onServer(async ({ server, made, service }) => {
    const kinds = { boolean: "true", time: "2020-05-13T16:46:21+02:00" };
    const stored = (key: Attribute, sequence: string) => {
      const sent = entity("e", { sent: sequence });
      const attributes = [...sent.attributes, { ...key, name: "unit" }];
      const { headers, body } = eventOf({ ...sent, type: key.name, attributes }, service);
      return { events: [{ headers: { ...headers, sequence }, body }] };
    };
    const boolean = { ...attribute("boolean", ""), value: { kind: "boolean", text: kinds.boolean } } as const;
    const time = { ...attribute("time", kinds.time), type: "DateTime" };
    const restarted = sinkOf({ ...onMysql(server), ...ofUnits });
    try {
      for (const key of [boolean, time]) {
        await made.sink.persist(stored(key, "1"), never);
        await restarted.sink.persist(stored(key, "2"), never);
      }
    } finally {
      await restarted.sink.stop(never);
    }

    for (const [type, unit] of Object.entries(kinds))
      assert.deepEqual(await server.query(`SELECT unit, sent FROM ${service}.${type}_last_data`), [
        { unit, sent: "2" },
      ]);
  }, ofUnits),
);

test(
  "a key of last data that is longer than a text column becomes a dead letter, and its table takes the next rows",
  { skip },
  onServer(
    async ({ server, made, service }) => {
      const store = (unit: string) => made.sink.persist({ events: [eventOf(entity("e", { unit }), service)] }, never);
      await store("m");

      await assert.rejects(store("m".repeat(70_000)), { code: "DATA_REFUSED", retryable: false });
      await store("km");

      const rows = await server.query(`SELECT unit FROM ${service}.T_last_data ORDER BY unit`);
      assert.deepEqual(rows, [{ unit: "km" }, { unit: "m" }]);
    },
    { data_model: "dm-by-entity-type", last_data_mode: "upsert", last_data_unique_key: ["entityId", "unit"] },
  ),
);
