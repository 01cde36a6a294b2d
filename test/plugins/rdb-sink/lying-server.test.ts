import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import plugin from "../../../plugins/rdb-sink/index.js";
import { mysqlServer } from "../../support/mysql.js";
import { postgresqlDatabase, type TestDatabase } from "../../support/postgresql.js";
import { recordingLog } from "../../support/recording-log.js";
import { wayToPostgresql } from "../../support/way-to-postgresql.js";
import { lyingServer, message } from "./lying-server.js";
import { entity, eventOf, never, onMysql, configOf as settingsOf, sinkOf } from "./sinks.js";

const batch = (a: string, service: string) => ({ events: [eventOf(entity("e", { a }), service)] });
const notUnderstood = { code: "STORE_UNAVAILABLE", message: /cannot be understood/, retryable: true };

// What is thrown where nobody catches it would end the process, and fails a test.
for (const { name, lie } of [
  { name: "a row with a negative number of values", lie: message("D", "\xff\xff") },
  { name: "a row that ends within a value", lie: message("D", "\0\x02\0") },
  { name: "a description of rows that nobody asked for", lie: message("T", "\0\0") },
  { name: "a request for GSSAPI in the midst of a session", lie: message("R", "\0\0\0\x07") },
  { name: "data to copy that nobody asked for", lie: message("d", "x") },
  { name: "a length that no message has", lie: "Z\xff\xff\xff\xff" },
  { name: "an answer to no statement", lie: message("Z", "T") },
])
  test(`PostgreSQL: ${name} breaks the connection and nothing else, and nothing counts as stored`, async (context) => {
    const database = await databaseOf(context);
    if (database === undefined) return;
    const server = await lyingServer(context, database);
    const { sink } = sinkOf({ ...configOf(database), rdb_port: server.port });
    context.after(() => sink.stop(AbortSignal.abort()));
    await sink.persist(batch("1", "lies"), never);
    server.sayNext((truth) => lie + truth);

    await assert.rejects(sink.persist(batch("2", "lies"), never));
    await sink.persist(batch("3", "lies"), never);

    assert.deepEqual(await database.query("SELECT a FROM lies.e ORDER BY ctid"), [{ a: "1" }, { a: "3" }]);
  });

for (const { name, said, instead } of [
  { name: "rolled back where it was to be committed", said: "COMMIT", instead: "ABORT " },
  { name: "gone before its end, as behind a relay that connects anew", said: "BEGIN", instead: "END  " },
])
  test(`PostgreSQL: a transaction that is ${name} does not count as stored`, async (context) => {
    const database = await databaseOf(context);
    if (database === undefined) return;
    const { port } = await wayToPostgresql(context, database, (bytes) =>
      Buffer.from(bytes.toString("latin1").replaceAll(said, instead), "latin1"),
    );
    const { sink } = sinkOf({ ...configOf(database), rdb_port: port });
    context.after(() => sink.stop(AbortSignal.abort()));

    await assert.rejects(sink.persist(batch("1", "lies"), never), {
      code: "STORE_UNAVAILABLE",
      message: /out of step.*; a pooler or proxy before it has to keep to one connection within a transaction/,
      retryable: true,
    });
  });

test("PostgreSQL: a server that asks for GSSAPI is refused with what to do", async (context) => {
  const port = await saying(context, message("R", "\0\0\0\x07"));
  const { sink } = sinkOf({ rdb_host: "127.0.0.1", rdb_port: port, rdb_options: "sslmode=disable" });
  context.after(() => sink.stop(AbortSignal.abort()));

  await assert.rejects(sink.persist(batch("1", "lies"), never), {
    message: /asks for an authentication that Deneb does not have, such as GSSAPI; let pg_hba\.conf/,
    retryable: true,
  });
});

for (const sslmode of ["disable", "prefer"])
  test(`PostgreSQL: a server of something else is named at once with sslmode=${sslmode}`, async (context) => {
    const port = await saying(context, "HTTP/1.1 400 Bad Request\r\n\r\n");
    const { sink } = sinkOf({ rdb_host: "127.0.0.1", rdb_port: port, rdb_options: `sslmode=${sslmode}` });
    context.after(() => sink.stop(AbortSignal.abort()));

    await assert.rejects(sink.persist(batch("1", "lies"), never), notUnderstood);
  });

test("PostgreSQL: a query of a person ends with its answer where the server keeps the connection open, as one that freezes then", {
  timeout: 30_000,
}, async (context) => {
  const database = await databaseOf(context);
  if (database === undefined) return;
  const { port } = await lyingServer(context, database, { hangsUp: false });

  const settings = settingsOf({ ...configOf(database), rdb_port: port });
  const parts = { name: "query", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  const result = await plugin.query?.(settings, "SELECT 1", parts);

  assert.deepEqual(result?.rows, [["1"]]);
});

test("MySQL: an error that is cut, while no statement runs, breaks the connection and nothing else", async (context) => {
  const server = await mysqlServer();
  if (server === undefined) return context.skip("MySQL is not reachable");
  context.after(() => server.drop());
  const service = `${server.prefix}lies`;
  const lying = await lyingServer(context, server);
  const { sink } = sinkOf({ ...onMysql(server), rdb_port: lying.port, rdb_options: "sslMode=DISABLED" });
  context.after(() => sink.stop(AbortSignal.abort()));
  await sink.persist(batch("1", service), never);
  lying.sayNext((truth) => `${truth}\x01\0\0\0\xff`);

  await assert.rejects(sink.persist(batch("2", service), never), { retryable: true });
  await sink.persist(batch("3", service), never);

  assert.deepEqual(await server.query(`SELECT a FROM ${service}.e`), [{ a: "1" }, { a: "3" }]);
});

async function databaseOf(context: TestContext): Promise<TestDatabase | undefined> {
  const database = await postgresqlDatabase();
  if (database === undefined) context.skip("PostgreSQL is not reachable");
  else context.after(() => database.drop());
  return database;
}

function configOf({ host, port, user, password, database }: TestDatabase) {
  const place = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password, rdb_database: database };
  return { ...place, rdb_options: "sslmode=disable", rdb_maxPoolSize: 1 };
}

/** A server that says this to everybody, and its port. */
async function saying(context: TestContext, text: string): Promise<number> {
  const server = createServer((socket) => {
    context.after(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write(Buffer.from(text, "latin1")));
  }).listen(0, "127.0.0.1");
  context.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
