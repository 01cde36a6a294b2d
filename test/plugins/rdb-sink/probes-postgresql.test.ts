import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { postgresqlDatabase, type TestDatabase } from "../../support/postgresql.js";
import { until } from "../../support/until.js";
import { closedPort } from "./fake-server.js";
import { NO_PROGRAMS, ownPostgresqlServer } from "./own-postgresql-server.js";
import { found, probed, troubles } from "./probes.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

const CREATE = "create a schema";
const ON_DISK = "see that rows are on disk";
const TABLES = "write to the tables";
const reachable = await postgresqlDatabase();
await reachable?.drop();
const skip = reachable === undefined ? "PostgreSQL is not reachable" : false;

interface Scene {
  readonly database: TestDatabase;
  /** A user without rights, that goes away with the test. */
  readonly user: string;
  readonly config: Partial<RdbConfig>;
  readonly admin: Partial<RdbConfig>;
}

async function scene(context: TestContext): Promise<Scene> {
  const database = await postgresqlDatabase();
  if (database === undefined) throw new Error("PostgreSQL is not reachable");
  const user = `deneb_user_${randomBytes(4).toString("hex")}`;
  await database.query(`CREATE ROLE ${user} LOGIN PASSWORD 'secret'`);
  context.after(async () => {
    await database.query(`REASSIGN OWNED BY ${user} TO CURRENT_USER`);
    await database.query(`DROP OWNED BY ${user}`);
    await database.query(`DROP ROLE ${user}`);
    await database.drop();
  });
  const server = { rdb_host: database.host, rdb_port: database.port, rdb_database: database.database };
  const admin = { ...server, rdb_username: database.user, rdb_password: database.password };
  return { database, user, config: { ...server, rdb_username: user, rdb_password: "secret" }, admin };
}

async function everything({ query }: TestDatabase): Promise<unknown> {
  return await query("SELECT nspname FROM pg_namespace UNION ALL SELECT relname FROM pg_class ORDER BY 1");
}

async function stored(config: Partial<RdbConfig>, service: string): Promise<void> {
  const { sink } = sinkOf(config, undefined, undefined, { agent: "a", name: "sink" });
  await sink.persist({ events: [eventOf(entity("room", { a: "1" }), service)] }, never);
  await sink.flush();
  await sink.stop(never);
}

test("a user who may create schemas passes, before and after the first row, and nothing is left behind", {
  skip,
}, async (context) => {
  const { database, user, config } = await scene(context);
  await database.query(`GRANT CREATE ON DATABASE ${database.database} TO ${user}`);
  const before = await everything(database);

  assert.deepEqual(troubles(await probed({ ...config, views: true })), []);
  assert.deepEqual(await everything(database), before);
  await stored(config, "svc");
  const findings = await probed(config);
  assert.deepEqual(troubles(findings), []);
  assert.deepEqual(found(findings, TABLES), { outcome: "ok", reason: "2 tables" });
});

test("without the right to create schemas it is a failure that names the right, and what is after the log-in is tried", {
  skip,
}, async (context) => {
  const { database, user, config } = await scene(context);

  const { outcome, reason, remedy } = found(await probed(config), CREATE);

  assert.equal(outcome, "failed");
  assert.match(reason ?? "", /permission denied for database/);
  assert.equal(remedy, `a superuser can run GRANT CREATE ON DATABASE "${database.database}" TO "${user}"`);
});

test("a database that confirms rows before they are on disk is a warning that says what to run", {
  skip,
}, async (context) => {
  const { database, admin } = await scene(context);
  assert.deepEqual(found(await probed(admin), ON_DISK), { outcome: "ok" });
  await database.query(`ALTER DATABASE ${database.database} SET synchronous_commit = off`);

  const { outcome, reason, remedy } = found(await probed(admin), ON_DISK);

  assert.equal(outcome, "warning");
  assert.match(reason ?? "", /^synchronous_commit is off: when the server crashes, it loses rows/);
  assert.equal(remedy, `run ALTER ROLE "${database.user}" SET synchronous_commit = on`);
});

test("commits that do not wait for the synchronous standby of the server are a warning", async (context) => {
  const server = await ownPostgresqlServer(context);
  if (server === undefined) return context.skip(NO_PROGRAMS);
  const { host, port, user, admin } = server;
  const onDisk = async () => found(await probed({ rdb_host: host, rdb_port: port, rdb_username: user }), ON_DISK);
  await admin.query("ALTER DATABASE postgres SET synchronous_commit = local");
  const alone = await onDisk();
  await admin.query("ALTER SYSTEM SET synchronous_standby_names = 'away'");
  await admin.query("SELECT pg_reload_conf()");
  await admin.end();

  const { outcome, reason, remedy } = await until(onDisk, ({ outcome }) => outcome === "warning");

  assert.deepEqual(alone, { outcome: "ok" });
  assert.equal(outcome, "warning");
  assert.match(reason ?? "", /^synchronous_commit is local: commits do not wait for the synchronous standby/);
  assert.equal(remedy, `run ALTER ROLE "${user}" SET synchronous_commit = on`);
});

test("with the schemas of some services and that of the agent it is a warning that names them", {
  skip,
}, async (context) => {
  const { database, user, config } = await scene(context);
  for (const name of ["deneb", "one"]) await database.query(`CREATE SCHEMA ${name} AUTHORIZATION ${user}`);

  const { outcome, reason } = found(await probed(config), CREATE);

  assert.equal(outcome, "warning");
  assert.match(reason ?? "", /; only services of existing schemas can be stored: one$/);
});

test("tables of another user are found: without rights a failure, without ownership a warning", {
  skip,
}, async (context) => {
  const { database, user, config, admin } = await scene(context);
  await database.query(`GRANT CREATE ON DATABASE ${database.database} TO ${user}`);
  await stored(admin, "svc");
  await database.query(`GRANT USAGE ON SCHEMA deneb, svc TO ${user}`);
  await database.query(`GRANT SELECT ON deneb.tables TO ${user}`);

  const closed = found(await probed(config), TABLES);
  assert.equal(closed.outcome, "failed");
  assert.match(
    closed.reason ?? "",
    /may not read, write, change and delete rows of 2 of 2 tables, such as deneb\.tables$/,
  );

  await database.query(`GRANT ALL ON ALL TABLES IN SCHEMA deneb, svc TO ${user}`);
  const strange = found(await probed(config), TABLES);
  assert.equal(strange.outcome, "warning");
  assert.match(
    strange.reason ?? "",
    /does not own 2 of 2 tables, such as deneb\.tables: no column can be added there$/,
  );
});

test("a user whose transactions are read-only, and one who may not create databases, are found", {
  skip,
}, async (context) => {
  const { database, user, config } = await scene(context);
  await database.query(`GRANT CREATE ON DATABASE ${database.database} TO ${user}`);
  const models = ["dm-by-entity-database", "dm-by-entity-type-database-schema", "DMByEntityDatabase"];
  const own: ReturnType<typeof found>[] = [];
  for (const data_model of models) own.push(found(await probed({ ...config, data_model }), "create databases"));
  await database.query(`ALTER ROLE ${user} SET default_transaction_read_only = on`);

  const { outcome, remedy } = found(await probed(config), CREATE);

  const remedyOf = `a superuser can run ALTER ROLE "${user}" CREATEDB`;
  for (const one of own) assert.deepEqual([one.outcome, one.remedy], ["warning", remedyOf]);
  assert.deepEqual(
    [outcome, remedy],
    ["failed", "point rdb_host to the primary, or switch default_transaction_read_only off"],
  );
});

test("a missing extension is a failure that names it, and an installed one says its version", {
  skip,
}, async (context) => {
  const { database, admin } = await scene(context);
  const missing = found(await probed({ ...admin, attr_geometry: true }), "use the extension PostGIS");
  assert.deepEqual(missing, {
    outcome: "failed",
    reason: "postgis is not installed there",
    remedy: `a superuser can run CREATE EXTENSION postgis in database "${database.database}"`,
  });
  const ofServices = { ...admin, attr_geometry: true, data_model: "dm-by-entity-database-schema" };
  assert.deepEqual(found(await probed(ofServices), "use the extension PostGIS"), {
    outcome: "warning",
    reason: "postgis is not installed there; the database of each service needs it",
    remedy: "a superuser can run CREATE EXTENSION postgis in template1, and in the databases that services have",
  });
  const [available] = await database.query("SELECT 1 FROM pg_available_extensions WHERE name = 'postgis'");
  if (available === undefined) return;

  await database.query("CREATE EXTENSION postgis");
  const there = found(await probed({ ...admin, attr_geometry: true }), "use the extension PostGIS");
  await database.query("CREATE SCHEMA elsewhere");
  await database.query("DROP EXTENSION postgis");
  await database.query("CREATE EXTENSION postgis SCHEMA elsewhere");
  const hidden = found(await probed({ ...admin, attr_geometry: true }), "use the extension PostGIS");

  assert.equal(there.outcome, "ok");
  assert.match(there.reason ?? "", /^postgis \d/);
  assert.equal(hidden.outcome, "failed");
});

test("the extension is not asked for where rows of attributes have no geometries, as with the class name of the original", {
  skip,
}, async (context) => {
  const { admin } = await scene(context);
  const rows = { ...admin, attr_geometry: true, attr_persistence: "row" } as const;
  const extensions: number[] = [];
  for (const attr_geometry_rows of [true, false]) {
    const findings = await probed({ ...rows, attr_geometry_rows });
    extensions.push(findings.filter(({ tried }) => tried.startsWith("use the extension PostGIS")).length);
  }

  assert.deepEqual(extensions, [1, 0]);
});

test("a server that is away is one failure; what needs it is skipped, and no password is in it", {
  skip: false,
}, async () => {
  const port = await closedPort();

  const findings = await probed({ rdb_port: port, rdb_password: "sesame" });

  const [first, ...others] = findings;
  assert.deepEqual([first?.outcome, first?.remedy], ["failed", "start it or check rdb_host and rdb_port"]);
  assert.deepEqual([...new Set(others.map(({ outcome }) => outcome))], ["skipped"]);
  assert.doesNotMatch(JSON.stringify(findings), /sesame/);
});
