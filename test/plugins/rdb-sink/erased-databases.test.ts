import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import type { Erasure, StoredData, StoredSelection } from "../../../core/sdk/index.js";
import type { Driver, Store } from "../../../core/sql/contract/driver.js";
import { type Dialect, plain, storedData } from "../../../core/sql/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import { mysqlServer } from "../../support/mysql.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { recordingLog } from "../../support/recording-log.js";
import { configOf, entity, eventOf, never, sinkOf } from "./sinks.js";

const postgresql = await postgresqlDatabase();
const mysql = await mysqlServer();
/** The services are databases of the server, and begin with a name of the tests. */
const made: string[] = [];
after(async () => {
  for (const name of made) await postgresql?.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
  await postgresql?.drop();
  await mysql?.drop();
});

const servers = {
  postgresql: postgresql && {
    prefix: `${postgresql.database}_`,
    config: addressOf("postgresql", { ...postgresql, name: postgresql.database }),
  },
  mysql: mysql && { prefix: mysql.prefix, config: addressOf("mysql", { ...mysql, name: "" }) },
};

interface Address {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly name: string;
}

function addressOf(rdb_dialect: RdbConfig["rdb_dialect"], { host, port, user, password, name }: Address) {
  const login = { rdb_username: user, rdb_password: password };
  return { rdb_dialect, rdb_host: host, rdb_port: port, rdb_database: name, ...login } satisfies Partial<RdbConfig>;
}

function dataOf(context: TestContext, config: Partial<RdbConfig>, name: string, mostWrites?: number): StoredData {
  const full = configOf(config);
  const own = { name, log: recordingLog().log, dataDir: "", run: "command", now: () => new Date(0) };
  const opened = databases[full.rdb_dialect].open(full, own);
  const store = { ...opened, dialect: amongOwn(opened.dialect) };
  const data = storedData(full, own, mostWrites === undefined ? store : killedAfter(mostWrites, store));
  context.after(() => data.close());
  return data;
}

/** Sees only the databases of this file: those of other tests come and go, and count their connections. */
function amongOwn(dialect: Dialect): Dialect {
  if (dialect.otherDatabases === undefined || postgresql === undefined) return dialect;
  const { at, text } = dialect.otherDatabases;
  const own = text.replace("WHERE ", `WHERE datname LIKE '${postgresql.database}%' AND `);
  assert.notEqual(own, text);
  return { ...dialect, otherDatabases: plain(at, own) };
}

/** A store that refuses writes after some, as it would for a process that has ended. */
function killedAfter(mostWrites: number, store: Store): Store {
  const { driver } = store;
  let writes = 0;
  const ending: Driver = {
    probe: (signal) => driver.probe(signal),
    read: (statements, signal) => driver.read(statements, signal),
    write: async (statements, signal) => {
      writes += 1;
      if (writes > mostWrites) throw new Error("the process has ended");
      return await driver.write(statements, signal);
    },
    commitUnits: (signal) => driver.commitUnits(signal),
    close: (signal) => driver.close(signal),
  };
  return { ...store, driver: ending };
}

async function erase(data: StoredData, selection: StoredSelection, dryRun = false): Promise<Erasure> {
  const erasure = await data.erase?.(selection, dryRun, never);
  assert.ok(erasure !== undefined);
  return erasure;
}

function counts({ erased }: Erasure): readonly string[] {
  return erased.map(({ kind, rows }) => `${kind} ${rows}`).sort();
}

const models = [
  { dialect: "postgresql", data_model: "dm-by-entity-database", name: "a" },
  { dialect: "postgresql", data_model: "dm-by-entity-type-database-schema", name: "b" },
  { dialect: "postgresql", data_model: "DMByEntityDatabase", name: "e", exactly_once: false },
  { dialect: "mysql", data_model: "dm-by-entity-database", name: "c" },
  { dialect: "mysql", data_model: "dm-by-entity-type-database", name: "d" },
] as const;

for (const { dialect, data_model, name, ...positions } of models) {
  const server = servers[dialect];
  const skip = server === undefined ? `${dialect} is not reachable` : false;
  test(`${data_model} of ${dialect}: an entity is erased from all databases, a service from its own`, {
    skip,
  }, async (context) => {
    const { prefix = "", config = {} } = server ?? {};
    const settings = { ...config, ...positions, data_model, last_data_mode: "both", persist_errors: true } as const;
    const services = [`${prefix}${name}1`, `${prefix}${name}2`] as const;
    made.push(...services);
    const { sink } = sinkOf(settings, undefined, undefined, { name });
    const events = services.flatMap((service) =>
      ["urn:a", "urn:b"].map((id) => eventOf(entity(id, { p: "1" }), service)),
    );
    await sink.persist({ events }, never);
    await assert.rejects(sink.persist({ events: [eventOf(entity("urn:a", { p: "\0" }), services[0])] }, never));
    await sink.stop(never);
    const data = dataOf(context, settings, name);

    const dry = await erase(data, { entity: "urn:a" }, true);
    const entityOf = await erase(data, { entity: "urn:a" });
    const service = await erase(data, { service: services[1] });
    const rest = await erase(dataOf(context, settings, name), { entity: "urn:b" }, true);

    const both = ["errors 1", "history 1", "history 1", "last data 1", "last data 1"];
    assert.deepEqual([counts(dry), counts(entityOf)], [both, both]);
    assert.deepEqual([entityOf.left, service.left], [[], []]);
    assert.deepEqual(counts(service), ["history 1", "last data 1"]);
    assert.deepEqual(counts(rest), ["history 1", "last data 1"]);
  });
}

for (const [dialect, server] of Object.entries(servers)) {
  const skip = server === undefined ? `${dialect} is not reachable` : false;
  test(`an erasure on ${dialect} that is killed between two transactions is ended by the next one, in partitions too`, {
    skip,
  }, async (context) => {
    const { prefix = "", config = {} } = server ?? {};
    const settings = { ...config, data_model: "dm-by-entity-type", partition: "month", views: true } as const;
    const service = `${prefix}killed`;
    const { sink } = sinkOf(settings, undefined, undefined, { name: "killed" });
    const at = (month: number, id: string) => ({
      headers: { "fiware-service": service, timestamp: String(Date.UTC(2026, month, 15)) },
      body: entity(id, { p: "1" }),
    });
    const events = Array.from({ length: 6000 }, (_, number) => at(number % 3, "urn:a"));
    await sink.persist({ events: [...events, at(0, "urn:b")] }, never);
    await sink.flush();
    await sink.stop(never);

    const killed = await erase(dataOf(context, settings, "killed", 1), { entity: "urn:a" }).catch(() => undefined);
    const ended = await erase(dataOf(context, settings, "killed"), { entity: "urn:a" });
    const rest = await erase(dataOf(context, settings, "killed"), { entity: "urn:b" }, true);

    assert.deepEqual(killed === undefined ? [] : counts(killed), ["history 5000"]);
    assert.deepEqual([counts(ended), ended.left], [["history 1000"], []]);
    assert.deepEqual(counts(rest), ["history 1"]);
  });
}
