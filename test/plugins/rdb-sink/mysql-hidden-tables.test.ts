import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { StoredData } from "../../../core/sdk/index.js";
import { storedData } from "../../../core/sql/index.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { mysqlServer } from "../../support/mysql.js";
import { recordingLog } from "../../support/recording-log.js";
import { configOf, entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

const server = await mysqlServer();
after(async () => await server?.drop());
const skip = server === undefined ? "MySQL is not reachable" : false;

async function skippedBy(data: StoredData, id: string): Promise<readonly string[]> {
  const skipped: string[] = [];
  for await (const rows of data.rows?.({ entity: id }, never) ?? [])
    if (rows.skipped !== undefined) skipped.push(rows.skipped);
  return skipped;
}

test("a listed table that the user may not see is left, and a dropped one is not", { skip }, async (context) => {
  if (server === undefined) return;
  const { prefix, query } = server;
  const service = `${prefix}hidden`;
  const place = onMysql(server);
  const { sink } = sinkOf(place);
  const ids = ["urn:seen", "urn:unseen", "urn:dropped"];
  await sink.persist({ events: ids.map((id) => eventOf(entity(id, { p: "1" }), service)) }, never);
  await sink.stop(never);
  await query(`DROP TABLE ${service}.urn_dropped`);
  const reader = `deneb_hidden_${process.pid}`;
  await query(`CREATE USER '${reader}'@'%' IDENTIFIED BY 'p'`);
  context.after(() => query(`DROP USER '${reader}'@'%'`));
  // The right to make a table tells one that is not there from one that is hidden.
  for (const table of ["deneb_tables", "urn_seen", "urn_dropped", `${service}_error_log`])
    await query(`GRANT SELECT, DELETE, CREATE ON ${service}.${table} TO '${reader}'@'%'`);
  const own = { name: "sink", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  const config = configOf({ ...place, rdb_username: reader, rdb_password: "p" });
  const data = storedData(config, own, databases.mysql.open(config, own));
  context.after(() => data.close());

  const erasure = await data.erase?.({ entity: "urn:unseen" }, true, never);
  const skipped = await skippedBy(data, "urn:unseen");

  assert.deepEqual(
    erasure?.left.map(({ name }) => name),
    [`${service}.urn_unseen`],
  );
  assert.match(erasure?.left[0]?.reason ?? "", /a right is missing/);
  assert.deepEqual(skipped.length, 1);
  assert.match(skipped[0] ?? "", /a right is missing/);
});

test("a system-versioned table of MariaDB is found when its schema is adopted", { skip }, async (context) => {
  if (server === undefined) return;
  const [found] = await server.query("SHOW VARIABLES LIKE 'system_versioning_alter_history'");
  if (found === undefined) return void context.skip("only MariaDB has such tables");
  const service = `${server.prefix}versioned`;
  const place = onMysql(server);
  const { sink } = sinkOf(place);
  await sink.persist({ events: [eventOf(entity("urn:kept", { p: "1" }), service)] }, never);
  await sink.stop(never);
  await server.query(`ALTER TABLE ${service}.urn_kept ADD SYSTEM VERSIONING`);
  await server.query(`DELETE FROM ${service}.deneb_tables`);
  const own = { name: "sink", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  const config = configOf(place);
  const data = storedData(config, own, databases.mysql.open(config, own));
  context.after(() => data.close());

  const adoption = await data.adopt?.({ tables: [], schemas: [service], fromOthers: false }, true, never);

  assert.deepEqual(
    adoption?.map(({ name }) => name),
    [`${service}.urn_kept`],
  );
});

test("an erasure says that the history of a system-versioned table keeps its rows, until that is deleted", {
  skip,
}, async (context) => {
  if (server === undefined) return;
  const { prefix, query } = server;
  const [found] = await query("SHOW VARIABLES LIKE 'system_versioning_alter_history'");
  if (found === undefined) return void context.skip("only MariaDB has such tables");
  const service = `${prefix}history`;
  const place = onMysql(server);
  const { sink } = sinkOf(place);
  const ids = ["urn:past", "urn:plain", "urn:other"];
  await sink.persist({ events: ids.map((id) => eventOf(entity(id, { p: "1" }), service)) }, never);
  await sink.stop(never);
  for (const table of ["urn_past", "urn_other"]) await query(`ALTER TABLE ${service}.${table} ADD SYSTEM VERSIONING`);
  const own = { name: "sink", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  const config = configOf(place);
  const data = storedData(config, own, databases.mysql.open(config, own));
  context.after(() => data.close());
  const erase = async (id: string, dryRun: boolean) => {
    const erasure = await data.erase?.({ entity: id, service }, dryRun, never);
    // Tests beside this one have tables of sinks of the same name.
    const isOwn = (name: string) => name.startsWith(`${service}.`);
    return {
      erased: erasure?.erased.map(({ table }) => table).filter(isOwn),
      left: erasure?.left.filter((one) => isOwn(one.name)),
    };
  };
  const name = `${service}.urn_past`;
  const reason =
    "it is system-versioned, so its history keeps deleted rows (FOR SYSTEM_TIME ALL); with the right DELETE HISTORY " +
    `DELETE HISTORY FROM \`${service}\`.\`urn_past\` removes that history, of all entities`;

  assert.deepEqual(await erase("urn:plain", false), { erased: [`${service}.urn_plain`], left: [] });
  assert.deepEqual(await erase("urn:past", true), { erased: [name], left: [{ name, reason }] });
  assert.deepEqual(await erase("urn:past", false), { erased: [name], left: [{ name, reason }] });
  assert.deepEqual(await erase("urn:past", false), { erased: [], left: [{ name, reason }] });
  await query(`DELETE HISTORY FROM \`${service}\`.\`urn_past\``);
  assert.deepEqual(await erase("urn:past", false), { erased: [], left: [] });
});
