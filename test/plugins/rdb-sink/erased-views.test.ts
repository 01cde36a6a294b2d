import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { SqlStoredData } from "../../../core/sql/features/stored-data/stored-data.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { mysqlServer } from "../../support/mysql.js";
import { at } from "../../support/position.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { recordingLog } from "../../support/recording-log.js";
import { configOf, entity, eventOf, never, onMysql, sinkOf } from "./sinks.js";

interface Scene {
  readonly service: string;
  readonly config: Partial<RdbConfig>;
  readonly positions: string;
  query(text: string): Promise<readonly Readonly<Record<string, string | null>>[]>;
}

const places = {
  PostgreSQL: async (context: TestContext): Promise<Scene | undefined> => {
    const server = await postgresqlDatabase();
    if (server === undefined) return undefined;
    context.after(() => server.drop());
    const { host, port, user, password, database, query } = server;
    const login = { rdb_host: host, rdb_port: port, rdb_username: user, rdb_password: password };
    return { service: "svc", config: { ...login, rdb_database: database }, positions: "deneb.positions", query };
  },
  MySQL: async (context: TestContext): Promise<Scene | undefined> => {
    const server = await mysqlServer();
    if (server === undefined) return undefined;
    context.after(() => server.drop());
    const { prefix, query } = server;
    const config = { ...onMysql(server), enable_lowercase: true } as const;
    return { service: `${prefix}svc`, config, positions: "deneb.deneb_positions", query };
  },
} as const;

for (const [name, place] of Object.entries(places))
  for (const data_model of ["dm-by-entity", "dm-by-entity-type"] as const)
    test(`after an erasure in ${name} with ${data_model} the views show the other entities, and positions are as before`, async (context) => {
      const scene = await place(context);
      if (scene === undefined) return context.skip(`${name} is not reachable`);
      const { service, positions, query } = scene;
      const config: Partial<RdbConfig> = { ...scene.config, data_model, last_data_mode: "both", views: true };
      const full = configOf(config);
      const identity = { name: service };
      const { sink } = sinkOf(config, undefined, undefined, identity);
      const events = ["urn:a", "urn:b", "urn:a"].map((id) => eventOf(entity(id, { p: "1" }), service));
      await sink.persist({ events, position: at(`${service}:3`) }, never);
      await sink.flush();
      await sink.stop(never);
      const kept = () => query(`SELECT * FROM ${positions} WHERE deneb_sink = '${service}'`);
      const before = await kept();
      const own = { ...identity, log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
      const data = new SqlStoredData(full, own, databases[full.rdb_dialect].open(full, own));

      const erased = await data.erase({ entity: "urn:a" }, false, never);
      await data.close();

      assert.deepEqual(erased.left, []);
      assert.deepEqual(erased.erased.map(({ rows }) => rows).toSorted(), [1, 2]);
      for (const view of ["all", "latest", "tidy"]) {
        const rows = await query(`SELECT entityid FROM ${service}.deneb_${view}_t`);
        assert.deepEqual(
          rows.map((row) => row["entityid"]),
          ["urn:b"],
          view,
        );
      }
      assert.equal(before.length, 1);
      assert.deepEqual(await kept(), before);
    });
