import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import pg from "pg";
import type { Statement } from "../../../core/sql/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { postgresql } from "../../../plugins/rdb-sink/postgresql/dialect.js";
import { runStatements } from "../../../plugins/rdb-sink/postgresql/run-statements.js";
import { runTransaction } from "../../../plugins/rdb-sink/postgresql/session.js";
import { answersPostgresql, postgresqlDatabase, serverOfTests, type TestDatabase } from "../../support/postgresql.js";
import { pgbouncerOfTests } from "../../support/provided-pgbouncer.js";
import { recordingLog } from "../../support/recording-log.js";
import { wayToPostgresql } from "../../support/way-to-postgresql.js";
import { configOf, entity, eventOf, never, sinkOf } from "./sinks.js";

const database = await postgresqlDatabase();
after(() => database?.drop());
const skip = database === undefined ? "PostgreSQL is not reachable" : false;
const pooler = pgbouncerOfTests();
const withoutPooler = (await answersPostgresql({ ...serverOfTests(), ...pooler }))
  ? skip
  : "PgBouncer is not reachable";

function onDatabase(run: (database: TestDatabase, context: TestContext) => Promise<void>) {
  return async (context: TestContext) => {
    if (database === undefined) throw new Error("PostgreSQL is not reachable");
    await run(database, context);
  };
}

function configAt({ host, port, user, password, database: name }: TestDatabase): RdbConfig {
  const server = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: name };
  return configOf(server);
}

function sinkAt(context: TestContext, given: TestDatabase, more: Partial<RdbConfig> = {}) {
  const { sink } = sinkOf({ ...configAt(given), ...more });
  context.after(() => sink.stop(never));
  return { persist: (...events: ReturnType<typeof eventOf>[]) => sink.persist({ events }, never) };
}

/** Each row has the first word of the statement that it came by. */
const NOTE_WAY = (table: string) => `
  ALTER TABLE ${table} ADD COLUMN way text;
  CREATE OR REPLACE FUNCTION public.note_way() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN NEW.way = substring(current_query() FROM '^[A-Z]+'); RETURN NEW; END $$;
  CREATE TRIGGER note_way BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION public.note_way()`;

test(
  "rows go by COPY, in the order of arrival, beside tables that take none",
  { skip },
  onDatabase(async (given, context) => {
    const sink = sinkAt(context, given);
    const plain = (a: number) => eventOf(entity("plain", { a: String(a) }), "ways");
    const ruled = (a: number) => eventOf(entity("ruled", { a: String(a) }), "ways");
    await sink.persist(plain(0), ruled(0));
    await given.query(NOTE_WAY("ways.plain"));
    await given.query(NOTE_WAY("ways.ruled"));
    // A rule for what is not inserted counts too: the server says only that there are rules.
    await given.query("CREATE RULE kept AS ON DELETE TO ways.ruled DO INSTEAD NOTHING");
    const next = sinkAt(context, given);

    await next.persist(plain(1), ruled(1), plain(2), ruled(2));

    const rows = (table: string) => given.query(`SELECT a, way FROM ways.${table} ORDER BY ctid`);
    const by = (way: string) => ["1", "2"].map((a) => ({ a, way }));
    assert.deepEqual(await rows("plain"), [{ a: "0", way: null }, ...by("COPY")]);
    assert.deepEqual(await rows("ruled"), [{ a: "0", way: null }, ...by("INSERT")]);
  }),
);

test(
  "rules on INSERT are followed",
  { skip },
  onDatabase(async (given, context) => {
    const event = (a: string) => eventOf(entity("e", { a }), "rules");
    await sinkAt(context, given).persist(event("1"));
    await given.query("CREATE TABLE rules.moved (LIKE rules.e)");
    await given.query(
      "CREATE RULE moved AS ON INSERT TO rules.e WHERE NEW.a = '2' DO INSTEAD INSERT INTO rules.moved VALUES (NEW.*)",
    );

    await sinkAt(context, given).persist(event("2"), event("3"));

    assert.deepEqual(await given.query("SELECT a FROM rules.e ORDER BY ctid"), [{ a: "1" }, { a: "3" }]);
    assert.deepEqual(await given.query("SELECT a FROM rules.moved"), [{ a: "2" }]);
  }),
);

test(
  "a rule that is made while a connection is open is followed a minute later",
  { skip },
  onDatabase(async (given, context) => {
    const { host, port, user, password, database: name } = given;
    const client = new pg.Client({ host, port, user, password, database: name });
    await client.connect();
    context.after(() => client.end());
    await given.query("CREATE SCHEMA later; CREATE TABLE later.e (a text); CREATE TABLE later.moved (a text)");
    const table = { database: "", schema: "later", table: "e" };
    const ask = async (_: unknown, statements: readonly Statement[]) => (await runStatements(client, statements)).rows;
    const write = async (now: number, ...values: readonly string[]) => {
      const rows = values.map((value) => [value]);
      await runTransaction(
        client,
        { begin: [], statements: postgresql.insert({ name: table, columns: [{ name: "a", kind: "text" }], rows }) },
        ask,
        now,
      );
    };
    await write(1000, "1", "2");
    await given.query("CREATE RULE moved AS ON INSERT TO later.e DO INSTEAD INSERT INTO later.moved VALUES (NEW.a)");

    await write(60_999, "3", "4");
    await write(61_000, "5", "6");

    assert.deepEqual(await given.query("SELECT a FROM later.e ORDER BY a"), rowsOf("1", "2", "3", "4"));
    assert.deepEqual(await given.query("SELECT a FROM later.moved ORDER BY a"), rowsOf("5", "6"));
  }),
);

test(
  "a table with row security and a view take their rows by INSERT, in the same transaction as others",
  { skip },
  onDatabase(async (given, context) => {
    const events = (a: string) => ["secured", "seen", "plain"].map((id) => eventOf(entity(id, { a }), "secured"));
    await sinkAt(context, given).persist(...events("1"));
    await given.query("DROP ROLE IF EXISTS deneb_test_secured");
    await given.query("CREATE ROLE deneb_test_secured LOGIN PASSWORD 'secret'");
    context.after(async () => {
      await given.query("DROP OWNED BY deneb_test_secured CASCADE");
      await given.query("DROP ROLE deneb_test_secured");
    });
    await given.query(`
      ALTER TABLE secured.secured ENABLE ROW LEVEL SECURITY;
      CREATE POLICY most ON secured.secured FOR INSERT WITH CHECK (a <> 'refused');
      ALTER TABLE secured.seen RENAME TO behind;
      CREATE VIEW secured.seen AS SELECT * FROM secured.behind;
      GRANT USAGE ON SCHEMA secured, deneb TO deneb_test_secured;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA secured, deneb TO deneb_test_secured`);
    await given.query(NOTE_WAY("secured.plain"));
    const sink = sinkAt(context, given, { rdb_username: "deneb_test_secured", rdb_password: "secret" });

    await sink.persist(...events("2"));
    await sink.persist(...events("3"));
    await assert.rejects(sink.persist(...events("refused")), /row-level security/);

    for (const table of ["secured", "behind"])
      assert.deepEqual(await given.query(`SELECT a FROM secured.${table} ORDER BY ctid`), [
        { a: "1" },
        { a: "2" },
        { a: "3" },
      ]);
    assert.deepEqual(await given.query("SELECT a, way FROM secured.plain ORDER BY ctid OFFSET 1"), [
      { a: "2", way: "COPY" },
      { a: "3", way: "COPY" },
    ]);
  }),
);

test(
  "a row that is alone goes by INSERT",
  { skip },
  onDatabase(async (given, context) => {
    const event = (a: string) => eventOf(entity("e", { a }), "alone");
    const sink = sinkAt(context, given);
    await sink.persist(event("1"));
    await given.query(NOTE_WAY("alone.e"));

    await sink.persist(event("2"));

    assert.deepEqual(await given.query("SELECT a, way FROM alone.e WHERE a = '2'"), [{ a: "2", way: "INSERT" }]);
  }),
);

test(
  "rows go by INSERT through a pooler",
  { skip: withoutPooler },
  onDatabase(async (given, context) => {
    const event = (a: string) => eventOf(entity("e", { a }), "pooled");
    const sink = sinkAt(context, { ...given, ...pooler });
    await sink.persist(event("1"));
    await given.query(NOTE_WAY("pooled.e"));

    await sink.persist(event("2"), event("3"));

    assert.deepEqual(await given.query("SELECT a, way FROM pooled.e ORDER BY ctid OFFSET 1"), [
      { a: "2", way: "INSERT" },
      { a: "3", way: "INSERT" },
    ]);
  }),
);

test(
  "rows go by INSERT to a server that does not know COPY",
  { skip },
  onDatabase(async (given, context) => {
    const unknown = (bytes: Buffer) => Buffer.from(bytes.toString("latin1").replaceAll("COPY ", "KOPY "), "latin1");
    const way = await wayToPostgresql(context, given, unknown);
    const events = (a: string) => ["e", "f"].map((id) => eventOf(entity(id, { a }), "unknown"));
    const sink = sinkAt(context, { ...given, port: way.port });

    await sink.persist(...events("1"), ...events("2"));
    await sink.persist(...events("3"));

    for (const table of ["e", "f"])
      assert.deepEqual(await given.query(`SELECT a FROM unknown.${table} ORDER BY ctid`), [
        { a: "1" },
        { a: "2" },
        { a: "3" },
      ]);
  }),
);

function rowsOf(...values: readonly string[]) {
  return values.map((a) => ({ a }));
}

/** Types of columns that somebody else has made, and texts for them. */
const foreign = [
  ["varchar(3)", "abc", "abcd", "ab   ", "", "\\N"],
  ["char(3)", "a", "abcd", "abc  "],
  ["numeric(4,2)", "1.005", "99.999", "1e2", "NaN", " 1 ", "x"],
  ["integer", "1", " 2 ", "1.0", "2147483648", ""],
  ["double precision", "1e400", "0.1", "Infinity", "-0"],
  ["boolean", "yes", "t", "of", "2"],
  ["timestamp(0)", "2020-05-13T14:46:21.918Z", "infinity", "yesterday at noon"],
  ["timestamptz(3)", "2020-05-13T14:46:21.9185Z", "2020-05-13 14:46:21+05:30"],
  ["date", "2020-05-13T23:46:21Z", "1/2/2020"],
  ["jsonb", '{"a":"\\t\\\\"}', "{a}", '"\\u0000"'],
  ["bytea", "\\x6162", "\\141", "a\\b"],
  ["text[]", '{a,"b\\"c",NULL}', "{", "{}"],
  ["uuid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "6ba7b810"],
  ["inet", "10.0.0.1/8", "x"],
  ["bit(3)", "101", "1010"],
  ["types.moods", "sad", "angry"],
  ["types.shorts", "ab", "abcd"],
  ["text GENERATED ALWAYS AS ('made') STORED", "a"],
  ["text CHECK (value <> 'a') DEFAULT 'b'", "a", "c"],
] as const;

test(
  "columns of every type take by COPY what they take by INSERT",
  { skip },
  onDatabase(async (given, context) => {
    await given.query(`CREATE SCHEMA types;
      CREATE TYPE types.moods AS ENUM ('sad', 'glad'); CREATE DOMAIN types.shorts AS text CHECK (length(value) < 4)`);
    const name = { database: "", schema: "types", table: "" };
    const columns = [{ name: "value", kind: "other" }] as const;
    const own = { name: "s", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
    const { driver } = databases.postgresql.open(configAt(given), own);
    context.after(() => driver.close(never));
    await given.query("CREATE TABLE types.beside (value text)");
    const beside = postgresql.insert({ name: { ...name, table: "beside" }, columns, rows: [["a"]] });
    for (const [at, [type, ...texts]] of foreign.entries()) {
      const table = `t${at}`;
      await given.query(`CREATE TABLE types.${table} (value ${type})`);
      await given.query(NOTE_WAY(`types.${table}`));
      for (const text of texts) {
        const outcome = async (store: () => Promise<unknown>) => {
          const result = await store().then(() => "stored", sqlStateOf);
          const [row] = await given.query(`DELETE FROM types.${table} RETURNING value::text, way`);
          return { type, text, result, value: row?.["value"], way: row?.["way"] };
        };
        const inserted = await outcome(() => given.query(`INSERT INTO types.${table} VALUES ($1)`, [text]));

        const copies = postgresql.insert({ name: { ...name, table }, columns, rows: [[text]] });
        const copied = await outcome(() => driver.write([...copies, ...beside], never));

        assert.deepEqual(copied, { ...inserted, way: inserted.way && "COPY" });
      }
    }
  }),
);

function sqlStateOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : error;
}
