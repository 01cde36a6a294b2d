import assert from "node:assert/strict";
import { after, test } from "node:test";
import { mysqlServer } from "../../support/mysql.js";
import { at } from "../../support/position.js";
import { oneStatementProxy } from "./one-statement-proxy.js";
import { entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

const server = await mysqlServer();
after(() => server?.drop());
const skip = server === undefined ? "MySQL is not reachable" : false;

test("behind a proxy that takes one statement at a time batches are stored whole, and it is asked once", {
  skip,
}, async (context) => {
  if (server === undefined) return;
  const service = `${server.prefix}shared`;
  const { port, refused } = await oneStatementProxy(context, server);
  const plainly = { ...onMysql({ ...server, port }), rdb_options: "sslMode=DISABLED" };
  const { sink } = sinkOf({ ...plainly, last_data_mode: "both" });
  const batch = (number: number) => ({
    events: ["e", "f"].map((id) => eventOf(entity(id, { a: String(number) }), service)),
    position: at(`${service}:${number}`),
  });

  await sink.persist(batch(1), never);
  await sink.persist(batch(2), never);
  await sink.stop(never);

  for (const table of ["e", "f"])
    assert.deepEqual(await server.query(`SELECT a FROM ${service}.${table}`), [{ a: "1" }, { a: "2" }]);
  // A node of Galera is sent none.
  assert.ok(refused() <= 1, `asked ${refused()} times`);
});
