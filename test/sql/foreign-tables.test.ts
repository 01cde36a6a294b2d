import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf, retryableOf } from "../../core/sdk/index.js";
import { fixed, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never, receivedAt, sinkOf } from "../plugins/rdb-sink/sinks.js";
import { postgresqlDatabase } from "../support/postgresql.js";

const notOurs = (error: unknown) => codeOf(error) === "TABLE_NOT_OURS" && retryableOf(error) === false;
const keepsHistory = { code: "TABLE_NOT_OURS", retryable: false, message: /it keeps history/ };

await onEveryDatabase("tables of others", [
  {
    name: "a table of an application gets neither rows nor columns, and the error names it and what to do",
    service: "erp",
    run: async (place, service) => {
      const sink = await place.sink();
      await persist(sink, eventOf(entity("first", { a: "1" }), service));
      await place.alter(service, "users", "CREATE TABLE @ (id text, entityid text)");

      const stored = persist(sink, eventOf(entity("users", { a: "1" }), service));

      await assert.rejects(stored, notOurs);
      await assert.rejects(stored, /table "users" of schema ".*erp".* lacks "recvtime", "entitytype".*; rename it/);
      await place.alter(service, "users", "INSERT INTO @ VALUES ('1', '2')");
      assert.deepEqual(await place.rows(service, "users"), [{ id: "1", entityid: "2" }]);
      await persist(sink, eventOf(entity("first", { a: "2" }), service));
    },
  },
  {
    name: "after its columns were added or it was renamed, events are stored without a restart",
    service: "remedied",
    run: async (place, service) => {
      const sink = await place.sink();
      await persist(sink, eventOf(entity("first", { a: "1" }), service));
      await place.alter(service, "users", "CREATE TABLE @ (id text)");
      const event = eventOf(entity("users", { a: "1" }), service);
      await assert.rejects(persist(sink, event), notOurs);

      for (const column of ["recvtime", "entityid", "entitytype"])
        await place.alter(service, "users", `ALTER TABLE @ ADD COLUMN ${column} text`);
      await persist(sink, event);

      assert.deepEqual(await place.rows(service, "users"), [{ id: undefined, ...fixed("users"), a: "1" }]);
    },
  },
  {
    name: "an unlisted table with the columns of a layout is used, and listed",
    service: "earlier",
    run: async (place, service) => {
      const first = await place.sink();
      await persist(first, eventOf(entity("first", { a: "1" }), service));
      await place.alter(service, "old", "CREATE TABLE @ (recvtime text, entityid text, entitytype text)");

      await persist(await place.sink(), eventOf(entity("old", { a: "1" }), service));

      assert.deepEqual(await place.rows(service, "old"), [{ ...fixed("old"), a: "1" }]);
      assert.deepEqual((await listed(place, service)).map(({ table_name }) => table_name).sort(), ["first", "old"]);
    },
  },
  {
    name: "a table that a sink has listed gets back a column that every layout has",
    service: "lost",
    run: async (place, service) => {
      await persist(await place.sink(), eventOf(entity("t", { a: "1" }), service));
      await place.alter(service, "t", "ALTER TABLE @ DROP COLUMN entitytype");

      await persist(await place.sink(), eventOf(entity("t", { a: "2" }), service));

      assert.deepEqual(
        (await place.rows(service, "t")).map(({ entitytype }) => entitytype),
        [undefined, "T"],
      );
    },
  },
  {
    name: "a created table is listed with its purpose and what it is named after",
    service: "listed",
    run: async (place, service) => {
      const sink = await place.sink({ last_data_mode: "both" });

      await persist(sink, eventOf(entity("urn:l:1", { a: "1" }), service));

      assert.deepEqual(
        (await listed(place, service)).map(({ table_name, sink: of, kind, subject, known_since }) => [
          table_name,
          of,
          kind,
          subject,
          known_since,
        ]),
        [
          ["urn_l_1", "sink", "history", "urn:l:1", "1970-01-01T00:00:00.000Z"],
          ["urn_l_1_last_data", "sink", "last data", "urn:l:1", "1970-01-01T00:00:00.000Z"],
        ],
      );
    },
  },
  {
    name: "a history that would go into a table of last data is refused, also by another sink; last data go on",
    service: "crossed",
    run: async (place, service) => {
      const sink = await place.sink({ last_data_mode: "both" });
      await persist(sink, eventOf(entity("r", { a: "1" }), service));
      const hostile = eventOf(entity("r_last_data", { a: "9" }), service);

      await assert.rejects(persist(sink, hostile), notOurs);
      await assert.rejects(persist(await place.sink(), hostile), notOurs);

      assert.deepEqual(await place.rows(service, "r_last_data"), [{ ...fixed("r"), a: "1" }]);
    },
  },
  {
    name: "last data that would change a history are refused, also by another sink; the history goes on",
    service: "crossedback",
    run: async (place, service) => {
      const both = { last_data_mode: "both" } as const;
      const sink = await place.sink(both);
      const history = (a: string) => eventOf(entity("r_last_data", { a }), service);
      const hostile = eventOf(entity("r", { a: "9" }), service);
      await persist(sink, history("1"));

      for (const one of [sink, await place.sink(both)])
        for (const again of [1, 2]) await assert.rejects(persist(one, hostile), keepsHistory, `try ${again}`);
      for (const one of [sink, await place.sink(both)]) await persist(one, history("2"));

      const rows = await place.rows(service, "r_last_data");
      assert.deepEqual(
        rows.map(({ entityid, a }) => [entityid, a]),
        [
          ["r_last_data", "1"],
          ["r_last_data", "2"],
          ["r_last_data", "2"],
        ],
      );
      assert.deepEqual(
        (await listed(place, service)).filter(({ table_name }) => table_name === "r_last_data").map(({ kind }) => kind),
        ["history"],
      );
    },
  },
  {
    name: "of a history and last data that want one new table in a batch, one is refused and the other stored",
    service: "crossednew",
    run: async (place, service) => {
      const sink = await place.sink({ last_data_mode: "both" });
      const of = (id: string) => eventOf(entity(id, { a: "1" }), service);

      await assert.rejects(persist(sink, of("r"), of("r_last_data")), notOurs);
      await persist(sink, of("r_last_data"));
      await assert.rejects(persist(sink, of("r")), keepsHistory);

      assert.deepEqual(await place.rows(service, "r_last_data"), [{ ...fixed("r_last_data"), a: "1" }]);
    },
  },
  {
    name: "a table that was adopted as history takes last data if it has their key",
    service: "misadopted",
    run: async (place, service) => {
      const both = { last_data_mode: "both" } as const;
      await persist(await place.sink(both), eventOf(entity("r", { a: "1" }), service));
      await place.alter(
        ...place.registerOf(service),
        `UPDATE @ SET kind = 'history', subject = '' WHERE schema_name = '${service}'`,
      );

      const { headers, body } = eventOf(entity("r", { a: "2" }), service);
      const later = { headers: { ...headers, timestamp: String(Date.parse(receivedAt) + 1) }, body };
      await persist(await place.sink(both), later);

      assert.deepEqual(
        (await place.rows(service, "r_last_data")).map(({ a }) => a),
        ["2"],
      );
    },
  },
  {
    name: "services that are not allowed and schemas that are protected are refused, and others stored",
    service: "admitted",
    run: async (place, service) => {
      const sink = await place.sink({
        allowed_services: [service.toUpperCase(), `${service}_p`],
        protected_schemas: [`${service}_p`],
        persist_errors: true,
      });
      const to = (name: string) => eventOf(entity("e", { a: "1" }), name);

      await persist(sink, to(service));
      await assert.rejects(persist(sink, to(`${service}2`)), { code: "SERVICE_NOT_ALLOWED", retryable: false });
      await assert.rejects(persist(sink, to(`${service}_p`)), { code: "SCHEMA_PROTECTED", retryable: false });

      assert.equal((await place.rows(service, "e")).length, 1);
      await assert.rejects(place.rows(`${service}_p`, "e"));
    },
  },
  {
    name: "a dropped register is created again",
    service: "unlisted",
    run: async (place, service) => {
      const sink = await place.sink();
      await persist(sink, eventOf(entity("one", { a: "1" }), service));
      // On a slow machine the facts of the first table would be noted in the new register.
      await sink.sink.flush();
      await place.alter(...place.registerOf(service), "DROP TABLE @");

      await persist(sink, eventOf(entity("two", { a: "1" }), service));

      assert.deepEqual(
        (await listed(place, service)).map(({ table_name }) => table_name),
        ["two"],
      );
      assert.ok(!sink.lines.some(({ level }) => level === "warn"), JSON.stringify(sink.lines));
    },
  },
  {
    name: "a refused register is logged once, and delays no row",
    service: "refused",
    run: async (place, service) => {
      const first = await place.sink();
      await persist(first, eventOf(entity("one", { a: "1" }), service));
      await place.alter(...place.registerOf(service), "DROP TABLE @");
      await place.alter(...place.registerOf(service), "CREATE TABLE @ (something_else int)");

      const sink = await place.sink();
      for (const id of ["one", "two", "three"]) await persist(sink, eventOf(entity(id, { a: "1" }), service));

      assert.equal((await place.rows(service, "three")).length, 1);
      assert.equal(sink.lines.filter(({ message }) => message.startsWith("tables are not listed")).length, 1);
      await place.alter(...place.registerOf(service), "DROP TABLE @");
    },
  },
]);

test("a user with the right to create tables in one schema only stores without a register", async (context) => {
  const database = await postgresqlDatabase();
  if (database === undefined) return context.skip("PostgreSQL is not reachable");
  const user = `${database.database}_few`;
  await database.query(`CREATE ROLE "${user}" LOGIN PASSWORD 'secret'`);
  await database.query(
    `CREATE SCHEMA few AUTHORIZATION "${user}"; CREATE SCHEMA deneb; CREATE TABLE deneb.tables (t text)`,
  );
  const { host, port, database: name } = database;
  const made = sinkOf({
    rdb_host: host,
    rdb_port: port,
    rdb_database: name,
    rdb_username: user,
    rdb_password: "secret",
  });
  context.after(async () => {
    await made.sink.stop(never);
    await database.query(`DROP OWNED BY "${user}"; DROP ROLE "${user}"`);
    await database.drop();
  });

  for (const id of ["one", "two"]) await made.sink.persist({ events: [eventOf(entity(id, { a: "1" }), "few")] }, never);

  assert.equal((await database.query("SELECT 1 FROM few.two")).length, 1);
  assert.equal(made.lines.filter(({ message }) => message.startsWith("tables are not listed")).length, 1);
});

type Place = Parameters<Parameters<typeof onEveryDatabase>[1][number]["run"]>[0];

async function listed(place: Place, service: string) {
  const quote = place.limit.unit === "characters" ? "`" : '"';
  const query = `SELECT * FROM @ WHERE ${quote}schema_name${quote} = '${service}' ORDER BY ${quote}table_name${quote}`;
  const rows = await place.select(...place.registerOf(service), query);
  return rows.filter(({ kind }) => kind !== "service");
}
