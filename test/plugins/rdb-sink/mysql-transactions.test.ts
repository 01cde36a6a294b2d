import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { mysqlServer } from "../../support/mysql.js";
import { at } from "../../support/position.js";
import { wayToPostgresql } from "../../support/way-to-postgresql.js";
import { entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

const server = await mysqlServer();
after(() => server?.drop());
const skip = server === undefined ? "MySQL is not reachable" : false;

const BEGIN = "START TRANSACTION";
const NOTHING = "DO 0 /*        */";

test("no position is moved after a transaction that ended without an error, and the batch may be tried again", {
  skip,
}, async (context) => {
  if (server === undefined) return;
  let isGone = true;
  const service = `${server.prefix}gone`;
  const { sink } = await sinkThrough(context, (text) => (isGone ? text.replaceAll(BEGIN, NOTHING) : text));
  const batch = { events: [eventOf(entity("e", { a: "1" }), service)], position: at(`${service}:1`) };

  const failure = sink.persist(batch, never);

  await assert.rejects(failure, { message: /ended the transaction before its end and said nothing/, retryable: true });
  assert.deepEqual(await sink.positions.alreadyStored(batch, never), []);
  isGone = false;
  await sink.persist(batch, never);
  assert.equal((await sink.positions.alreadyStored(batch, never)).length, 1);
});

// A text of several statements goes on behind one whose transaction another node has ended.
test("a node of Galera gets the statements of a transaction one at a time", { skip }, async (context) => {
  if (server === undefined) return;
  const texts: string[] = [];
  const service = `${server.prefix}galera`;
  const { sink } = await sinkThrough(context, (text) => {
    texts.push(text);
    return text.replaceAll("'wsrep_on'", "'foreign%'");
  });

  await sink.persist({ events: [eventOf(entity("e", { a: "1" }), service)], position: at(`${service}:1`) }, never);

  assert.ok(texts.some((text) => text.endsWith(BEGIN)));
  assert.deepEqual(
    texts.filter((text) => text.includes(`${BEGIN};`)),
    [],
  );
  assert.deepEqual(await server.query(`SELECT a FROM ${service}.e`), [{ a: "1" }]);
});

/** `sent` makes what the server gets, of the same length. */
async function sinkThrough(context: TestContext, sent: (text: string) => string) {
  if (server === undefined) throw new Error("MySQL is not reachable");
  const { port } = await wayToPostgresql(context, server, (bytes) =>
    Buffer.from(sent(bytes.toString("latin1")), "latin1"),
  );
  const { sink } = sinkOf({ ...onMysql({ ...server, port }), rdb_options: "sslMode=DISABLED" });
  context.after(() => sink.stop(never));
  return { sink };
}
