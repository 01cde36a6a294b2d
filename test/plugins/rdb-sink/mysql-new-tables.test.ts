import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Statement } from "../../../core/sql/contract/statement.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { mysqlServer } from "../../support/mysql.js";
import { recordingLog } from "../../support/recording-log.js";
import { configOf, entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

const server = await mysqlServer();
after(() => server?.drop());

test("MySQL: new tables of a batch are made over several connections at once", {
  skip: server === undefined,
}, async () => {
  if (server === undefined) return;
  const { log } = recordingLog();
  const config = configOf({ ...onMysql(server), data_model: "dm-by-attribute", attr_persistence: "row" });
  const store = databases.mysql.open(config, { name: "sink", log, dataDir: "", run: "run", now: () => new Date(0) });
  const { driver } = store;
  const write = driver.write.bind(driver);
  let running = 0;
  let most = 0;
  driver.write = async (statements: readonly Statement[], signal: AbortSignal) => {
    running += 1;
    most = Math.max(most, running);
    return await write(statements, signal).finally(() => {
      running -= 1;
    });
  };
  const { sink } = sinkOf(config, undefined, store, { name: `${server.prefix}tables` });
  const service = `${server.prefix}wide`;
  const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`a${at}`, "1"]));

  await sink.persist({ events: [eventOf(entity("e", attributes), service)] }, never);
  await sink.stop(never);

  assert.equal(most, 3);
  const [found] = await server.query(
    `SELECT CAST(count(*) AS CHAR) AS n FROM information_schema.tables WHERE table_schema = '${service}' AND table_name LIKE 'e\\_a%'`,
  );
  const [listed] = await server.query(
    `SELECT CAST(count(*) AS CHAR) AS n FROM ${service}.deneb_tables WHERE table_name LIKE 'e\\_a%'`,
  );
  assert.deepEqual([found, listed], [{ n: "10" }, { n: "10" }]);
});
