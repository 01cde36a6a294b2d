import assert from "node:assert/strict";
import { after, test } from "node:test";
import { storedData } from "../../../core/sql/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { mysqlServer, type TestServer } from "../../support/mysql.js";
import { mysqlPrograms } from "../../support/mysql-programs.js";
import { startOwnMysql } from "../../support/own-mysql.js";
import { recordingLog } from "../../support/recording-log.js";
import { found, probed } from "./probes.js";
import { configOf, entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

const { server, stop } = await keepingLowerCase();
after(async () => {
  await server?.drop();
  await stop();
});
const skip = server === undefined ? "no server with lower_case_table_names = 1, and no MariaDB is installed" : false;

/** The server of the tests if it keeps names in lower case, else one that is made. */
async function keepingLowerCase() {
  const given = await mysqlServer();
  const kept = await given?.query("SELECT @@lower_case_table_names AS kept");
  if (kept?.[0]?.["kept"] === "1") return { server: given, stop: async () => undefined };
  await given?.drop();
  const programs = await mysqlPrograms();
  const own = programs === undefined ? undefined : await startOwnMysql(programs, ["--lower-case-table-names=1"]);
  const made =
    own === undefined ? undefined : await mysqlServer({ host: own.host, port: own.port, user: own.user, password: "" });
  return { server: made, stop: async () => await own?.stop() };
}

/** Runs with the server and the name of a service, which has capitals. */
function on(service: string, run: (server: TestServer, service: string) => Promise<void>) {
  return async () => {
    if (server === undefined) throw new Error("no server");
    await run(server, `${server.prefix}${service}`);
  };
}

async function store(
  config: Partial<RdbConfig>,
  batches: readonly (readonly (readonly [service: string, id: string, attribute: string])[])[],
) {
  const { sink, lines } = sinkOf(config, () => new Date("2026-01-01T00:00:00Z"));
  for (const batch of batches) {
    const events = batch.map(([service, id, name]) => eventOf(entity(id, { [name]: "1" }), service));
    await sink.persist({ events }, never);
  }
  await sink.sweep();
  await sink.stop(never);
  return lines;
}

function dataOf(config: Partial<RdbConfig>) {
  const context = { name: "sink", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  const full = configOf(config);
  return storedData(full, context, databases.mysql.open(full, context));
}

for (const last_data_mode of ["insert", "both"] as const)
  test(
    `entities of one batch whose ids differ in letter case only share a table, with last_data_mode = ${last_data_mode}`,
    {
      skip,
    },
    on(`One_${last_data_mode}`, async (server, service) => {
      await store({ ...onMysql(server), last_data_mode }, [
        [
          [service, "Room", "a"],
          [service, "room", "b"],
          [service.toLowerCase(), "ROOM", "c"],
        ],
      ]);

      const columns = "entityId, a IS NOT NULL AS a, b IS NOT NULL AS b, c IS NOT NULL AS c";
      const expected = [
        { entityId: "ROOM", a: "0", b: "0", c: "1" },
        { entityId: "Room", a: "1", b: "0", c: "0" },
        { entityId: "room", a: "0", b: "1", c: "0" },
      ];
      const tables = last_data_mode === "both" ? ["room", "room_last_data"] : ["room"];
      for (const table of tables) {
        const rows = await server.query(`SELECT ${columns} FROM ${service}.${table} ORDER BY BINARY entityId`);
        assert.deepEqual(rows, expected, table);
      }
    }),
  );

test(
  "a second service whose name differs in letter case only is reported, and has a database of its own on request",
  {
    skip,
  },
  on("Shared", async (server, service) => {
    const both = [[[service, "e", "a"] as const], [[service.toLowerCase(), "e", "a"] as const]];

    const schema = service.toLowerCase();

    const lines = await store(onMysql(server), both);
    await store({ ...onMysql(server), enable_service_hash: true }, both);

    const reported = lines.filter(({ message }) => message.startsWith("services share a schema"));
    assert.deepEqual(
      reported.map(({ fields }) => fields),
      [{ database: schema, schema, service: service.toLowerCase(), others: [service] }],
    );
    const counts = await server.query(
      `SELECT schema_name AS name FROM information_schema.schemata WHERE schema_name LIKE '${server.prefix}shared%'`,
    );
    assert.equal(counts.length, 2);
  }),
);

test(
  "rows of names with capitals are exported, erased, and deleted when they are old",
  { skip },
  on("Found", async (server, service) => {
    const config = onMysql(server);
    await store(config, [[[service, "Kept", "a"]]]);
    const data = dataOf(config);

    const listed = await data.tables?.({ service }, never);
    let exported = 0;
    for await (const { rows } of data.rows?.({ service }, never) ?? [])
      for await (const some of rows) exported += some.length;
    const erased = await data.erase?.({ entity: "Kept" }, false, never);
    await data.close();
    await store(config, [[[service, "Kept", "a"]]]);
    await store({ ...config, "persistence_policy.expiration_time": 60 }, [[]]);

    const table = `${service.toLowerCase()}.kept`;
    assert.deepEqual([listed?.map(({ name }) => name), exported], [[table], 1]);
    assert.deepEqual([erased?.erased.map(({ table: name, rows }) => [name, rows]), erased?.left], [[[table, 1]], []]);
    assert.deepEqual(await server.query(`SELECT * FROM ${table}`), []);
  }),
);

test(
  "old rows of an adopted database are deleted in whatever letter case it is configured",
  { skip },
  on("Adopted", async (server, service) => {
    await server.query(`CREATE DATABASE ${service}`);
    await server.query(`CREATE TABLE ${service}.Old (recvTime text, entityId text, entityType text)`);
    await server.query(`INSERT INTO ${service}.Old VALUES ('2020-01-01 00:00:00.000', 'e', 'T')`);
    const kept = { "persistence_policy.adopted_schemas": [service], "persistence_policy.expiration_time": 60 };

    await store({ ...onMysql(server), ...kept }, [[]]);

    assert.deepEqual(await server.query(`SELECT * FROM ${service}.Old`), []);
  }),
);

test(
  "positions are found again in a database that is configured with capitals",
  { skip },
  on("Positions", async (server, service) => {
    const config = { ...onMysql(server), rdb_bookkeeping_database: `${service}_Own` };
    const event = eventOf(entity("E", { a: "1" }), service);
    const batch = {
      events: [event],
      position: { text: `${service}:1`, coveredBy: (position: string) => (position === `${service}:1` ? [event] : []) },
    };

    for (const _ of ["first", "second"]) {
      const { sink } = sinkOf(config);
      await sink.persist(batch, never);
      await sink.stop(never);
    }

    assert.equal((await server.query(`SELECT * FROM ${service}.E`)).length, 1);
    assert.equal((await server.query(`SELECT * FROM ${service}_Own.deneb_positions`)).length, 1);
  }),
);

test(
  "a check finds nothing wrong with such a server, and a start warns of nothing",
  { skip },
  on("Checked", async (server) => {
    const { sink, lines } = sinkOf(onMysql(server));
    await sink.start();
    await sink.stop(never);

    const checked = found(await probed(onMysql(server)), "see how the server keeps names");

    assert.deepEqual(checked, { outcome: "ok" });
    assert.deepEqual(
      lines.filter(({ level }) => level === "warn"),
      [],
    );
  }),
);

test(
  "a table that an earlier version listed with capitals is erased once, and named where its own name is not listed",
  {
    skip,
  },
  on("Cased", async (server, service) => {
    await store(onMysql(server), [[[service, "Room", "a"]], [[service, "Shelf", "a"]]]);
    const register = `${service}.deneb_tables`;
    await server.query(
      `CREATE TEMPORARY TABLE ${service}.earlier AS SELECT * FROM ${register} WHERE table_name = 'room'`,
    );
    await server.query(`UPDATE ${service}.earlier SET table_name = 'Room'`);
    await server.query(`INSERT INTO ${register} SELECT * FROM ${service}.earlier`);
    await server.query(`UPDATE ${register} SET table_name = 'Shelf' WHERE table_name = 'shelf'`);
    const data = dataOf(onMysql(server));

    const erasure = await data.erase?.({ service }, false, never);
    await data.close();

    const schema = service.toLowerCase();
    assert.deepEqual(
      erasure?.erased.map(({ table, rows }) => [table, rows]),
      [[`${schema}.room`, 1]],
    );
    assert.deepEqual(
      erasure?.left.map(({ name }) => name),
      [`${schema}.Shelf`],
    );
    assert.match(erasure?.left[0]?.reason ?? "", /it is table ".*cased\.shelf"; list that one with deneb tables adopt/);
  }),
);
