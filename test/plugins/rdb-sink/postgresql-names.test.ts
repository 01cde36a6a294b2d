import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import pg from "pg";
import type { Statement } from "../../../core/sql/index.js";
import { NamedTexts } from "../../../plugins/rdb-sink/postgresql/names.js";
import { runStatements } from "../../../plugins/rdb-sink/postgresql/run-statements.js";
import { runTransaction } from "../../../plugins/rdb-sink/postgresql/session.js";
import { postgresqlDatabase, type TestDatabase } from "../../support/postgresql.js";
import { wayToPostgresql } from "../../support/way-to-postgresql.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

const database = await postgresqlDatabase();
after(() => database?.drop());
const skip = database === undefined ? "PostgreSQL is not reachable" : false;

interface Watched {
  readonly given: TestDatabase;
  /** Writes last data of three entities. */
  store(a: string): Promise<void>;
  /** The value of each entity. */
  stored(): Promise<readonly (string | null)[]>;
  /** How many texts that write last data went to the server since the last call. */
  texts(): number;
}

const ids = ["e", "f", "g"] as const;

/** A sink of last data on one connection. */
function watchNotices(service: string, run: (watched: Watched) => Promise<void>) {
  return async (context: TestContext) => {
    if (database === undefined) throw new Error("PostgreSQL is not reachable");
    let texts = 0;
    const way = await wayToPostgresql(context, database, (bytes) => {
      // Not those of the list of tables, which is written beside them.
      texts += [...bytes.toString("latin1").matchAll(/_last_data[^\0]*?ON CONFLICT/g)].length;
      return bytes;
    });
    const { host, port, user, password, database: name } = { ...database, port: way.port };
    const server = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: name };
    const { sink } = sinkOf({ ...server, rdb_maxPoolSize: 1, last_data_mode: "upsert", exactly_once: false });
    context.after(() => sink.stop(never));
    let later = 0;
    await run({
      given: database,
      store: async (a) => {
        const timestamp = String(Date.UTC(2020, 0, 1) + 1000 * later++);
        const events = ids.map((id) => eventOf(entity(id, { a }), service));
        const timed = events.map((event) => ({ ...event, headers: { ...event.headers, timestamp } }));
        await sink.persist({ events: timed }, never);
      },
      stored: async () => {
        const all = ids.map((id) => `SELECT '${id}' AS id, a::text FROM ${service}.${id}_last_data`);
        const rows = await given(database).query(`${all.join(" UNION ALL ")} ORDER BY id`);
        return rows.map(({ a }) => a ?? null);
      },
      texts: () => {
        const before = texts;
        texts = 0;
        return before;
      },
    });
  };
}

test(
  "the texts that write last data go to the server twice, and then by their names",
  { skip },
  watchNotices("named", async ({ store, stored, texts }) => {
    await store("0");
    texts();
    const sent: number[] = [];
    for (const a of ["1", "2", "3", "4"]) {
      await store(a);
      sent.push(texts());
      assert.deepEqual(await stored(), [a, a, a]);
    }

    assert.deepEqual(sent, [3, 0, 0, 0]);
  }),
);

test(
  "a column that somebody gives another type takes its values, and a table that somebody drops is made again",
  { skip },
  watchNotices("retyped", async ({ given, store, stored }) => {
    for (const a of ["0", "1", "2"]) await store(a);
    await given.query("ALTER TABLE retyped.f_last_data ALTER COLUMN a TYPE jsonb USING to_jsonb(a)");

    await store("3");
    await store("4");
    assert.deepEqual(await stored(), ["4", "4", "4"]);

    await given.query("DROP TABLE retyped.g_last_data");
    await store("5");
    await store("6");
    // Looked up again with the missing one: the column takes JSON.
    assert.deepEqual(await stored(), ["6", '"6"', "6"]);
  }),
);

test(
  "a write that fails while it gives names does not hinder the next ones",
  { skip },
  watchNotices("failing", async ({ given, store, stored, texts }) => {
    await store("0");
    await given.query("ALTER TABLE failing.f_last_data ADD CONSTRAINT no CHECK (a <> '1')");

    await assert.rejects(store("1"), { code: "DATA_REFUSED" });
    assert.deepEqual(await stored(), ["0", "0", "0"]);
    for (const a of ["2", "3", "4"]) await store(a);
    texts();
    await store("5");

    assert.deepEqual(await stored(), ["5", "5", "5"]);
    assert.equal(texts(), 0);
  }),
);

test(
  "names that somebody removes on the server are given again",
  { skip },
  watchNotices("removed", async ({ given, store, stored, texts }) => {
    for (const a of ["0", "1", "2"]) await store(a);
    // As a session that was reset: all its names are gone.
    await given.query(`CREATE FUNCTION removed.forget() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN DEALLOCATE ALL; RETURN NULL; END $$`);
    await given.query(`CREATE TRIGGER forget AFTER INSERT OR UPDATE ON removed.g_last_data
      FOR EACH ROW WHEN (NEW.a = '3') EXECUTE FUNCTION removed.forget()`);
    await store("3");
    texts();

    await store("4");
    assert.deepEqual(await stored(), ["4", "4", "4"]);
    for (const a of ["5", "6", "7"]) await store(a);
    texts();
    await store("8");
    assert.deepEqual(await stored(), ["8", "8", "8"]);
    assert.equal(texts(), 0);
  }),
);

test("a column whose type somebody changes while a connection is open is written with that type a minute later", {
  skip,
}, async (context) => {
  const { host, port, user, password, database: name, query } = given(database);
  const client = new pg.Client({ host, port, user, password, database: name });
  await client.connect();
  context.after(() => client.end());
  await query("CREATE SCHEMA minute; CREATE TABLE minute.e (a numeric)");
  const ask = async (_: unknown, statements: readonly Statement[]) => (await runStatements(client, statements)).rows;
  const one = { at: { database: "", schema: "minute" }, text: "INSERT INTO minute.e VALUES ($1)".padEnd(300) };
  const write = async (now: number, a: string) => {
    const statements = ["", " ", "  "].map((end) => ({ ...one, text: one.text + end, runs: [[a]] }));
    await runTransaction(client, { begin: [], statements }, ask, now);
  };
  for (const a of ["1", "2", "3"]) await write(1000, a);
  await query("ALTER TABLE minute.e ALTER COLUMN a TYPE integer");

  // Until then the server takes it for a number, and rounds it.
  await write(60_999, "3.7");

  await assert.rejects(write(61_000, "4.7"), { code: "22P02" });
});

test("a connection has at most 200 names, and gives them anew when others have long been wanted", () => {
  const names = new NamedTexts();
  const statement = (text: string) => ({ at: { database: "", schema: "" }, text: text.padEnd(300), runs: [["a"]] });
  const write = (texts: readonly string[]) => {
    const found = texts.map((text) => names.of(statement(text))?.name);
    names.written();
    return found.filter((name) => name !== undefined);
  };
  const early = Array.from({ length: 200 }, (_, index) => `early ${index}`);
  const late = Array.from({ length: 50 }, (_, index) => `late ${index}`);

  assert.deepEqual([write(early).length, write(early).length], [0, 200]);
  write(late);
  assert.deepEqual(write(late), []);
  for (let round = 0; round < 1000; round += 1) write(late);
  assert.equal(write(late).length, 50);
  assert.deepEqual(new Set([...write(early), ...write(early), ...write(late)]).size, 200);
});

test("texts without parameters, short ones and rows have no name", () => {
  const names = new NamedTexts();
  const at = { database: "", schema: "" };
  const without = [
    { at, text: "SELECT".padEnd(300), runs: [[]] },
    { at, text: "SELECT $1", runs: [["a"]] },
    { at, text: "INSERT".padEnd(300), runs: [["a"]], copy: "COPY" },
  ];

  for (let round = 0; round < 3; round += 1) {
    for (const statement of without) assert.equal(names.of(statement), undefined);
    names.written();
  }
});

function given(known: TestDatabase | undefined): TestDatabase {
  if (known === undefined) throw new Error("PostgreSQL is not reachable");
  return known;
}
