import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { wayToPostgresql } from "../../support/way-to-postgresql.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

const database = await postgresqlDatabase();
after(() => database?.drop());
const skip = database === undefined ? "PostgreSQL is not reachable" : false;

const QUESTION = "SHOW pool_version";
const ANSWERED = "SELECT '4.3.5'".padEnd(QUESTION.length);

/** Stores history and last data of three entities four times, on one connection; what was sent then. */
async function sentOverRelay(context: TestContext, service: string, relayed: (text: string) => string) {
  if (database === undefined) throw new Error("PostgreSQL is not reachable");
  let all = "";
  const way = await wayToPostgresql(context, database, (bytes) => {
    const text = relayed(bytes.toString("latin1"));
    all += text;
    return Buffer.from(text, "latin1");
  });
  const { host, user, password, database: name } = database;
  const server = { rdb_host: host, rdb_port: way.port, rdb_username: user, rdb_password: password };
  const { sink } = sinkOf({ ...server, rdb_database: name, rdb_maxPoolSize: 1, last_data_mode: "both" });
  context.after(() => sink.stop(never));
  for (const a of ["1", "2", "3", "4"])
    await sink.persist({ events: ["e", "f", "g"].map((id) => eventOf(entity(id, { a }), service)) }, never);

  for (const id of ["e", "f", "g"])
    assert.deepEqual(
      (await database.query(`SELECT a FROM ${service}.${id} ORDER BY ctid`)).map(({ a }) => a),
      ["1", "2", "3", "4"],
    );
  return { copies: /COPY "/.test(all), names: all.includes("deneb_0"), questions: all.split(QUESTION).length - 1 };
}

test("through a Pgpool-II, which shows the process of the server and hangs at a COPY, rows are inserted and nothing is named", {
  skip,
}, async (context) => {
  const sent = await sentOverRelay(context, "pgpool", (text) => text.replaceAll(QUESTION, ANSWERED));

  assert.deepEqual(sent, { copies: false, names: false, questions: 0 });
});

test("through a relay that reads nothing, rows are copied and statements are named; it is asked once", {
  skip,
}, async (context) => {
  const sent = await sentOverRelay(context, "relay", (text) => text);

  assert.deepEqual(sent, { copies: true, names: true, questions: 1 });
});
