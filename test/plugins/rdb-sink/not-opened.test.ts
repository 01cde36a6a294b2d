import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createConnection } from "mysql2/promise";
import pg from "pg";
import { reasonOf } from "../../../core/sdk/index.js";
import { installedProgram } from "../../support/installed-program.js";
import { mysqlServer, type TestServer } from "../../support/mysql.js";
import { startOwnPgbouncer } from "../../support/own-pgbouncer.js";
import { at } from "../../support/position.js";
import { postgresqlDatabase, serverOfTests, type TestDatabase } from "../../support/postgresql.js";
import { until } from "../../support/until.js";
import { entity, eventOf, never, onMysql, onPostgresql, sinkOf } from "./sinks.js";

const database = await postgresqlDatabase();
const server = await mysqlServer();
after(async () => {
  await database?.drop();
  await server?.drop();
});
const noPostgresql = database === undefined ? "PostgreSQL is not reachable" : false;
const noMysql = server === undefined ? "MySQL is not reachable" : false;

const caught = (error: unknown) => error;
const eventFor = (service: string, a: string) => ({ events: [eventOf(entity("e", { a }), service)] });

interface Fault {
  readonly what: string;
  /** Statements with the names of the database of a service and of the user. */
  readonly begins: readonly string[];
  readonly ends: readonly string[];
  readonly says: RegExp;
  /** Whether it is of this database alone, as rows of another one show. */
  readonly ofOne?: true;
}

const faults: readonly Fault[] = [
  {
    what: "refuses connections",
    begins: ["ALTER DATABASE DATABASE_ ALLOW_CONNECTIONS false"],
    ends: ["ALTER DATABASE DATABASE_ ALLOW_CONNECTIONS true"],
    says: /database ".*" is not currently accepting connections; ALTER DATABASE .* ALLOW_CONNECTIONS/,
    ofOne: true,
  },
  {
    what: "the user may not connect to",
    begins: ["REVOKE CONNECT ON DATABASE DATABASE_ FROM PUBLIC, USER_"],
    ends: ["GRANT CONNECT ON DATABASE DATABASE_ TO PUBLIC, USER_"],
    says: /a right is missing in .*permission denied for database/,
    ofOne: true,
  },
  {
    what: "has no connection left",
    begins: ["ALTER DATABASE DATABASE_ CONNECTION LIMIT 0"],
    ends: ["ALTER DATABASE DATABASE_ CONNECTION LIMIT -1"],
    says: /has no connection left: too many connections for database/,
  },
  {
    what: "the user may not log in to",
    begins: ["ALTER ROLE USER_ NOLOGIN"],
    ends: ["ALTER ROLE USER_ LOGIN"],
    says: /role ".*" is not permitted to log in; check rdb_username/,
  },
  {
    what: "the user has no connection left for",
    begins: ["ALTER ROLE USER_ CONNECTION LIMIT 0"],
    ends: ["ALTER ROLE USER_ CONNECTION LIMIT -1"],
    says: /has no connection left: too many connections for role/,
  },
  {
    what: "takes no writes",
    begins: ["ALTER DATABASE DATABASE_ SET default_transaction_read_only = on"],
    ends: ["ALTER DATABASE DATABASE_ RESET default_transaction_read_only"],
    says: /takes no writes now/,
  },
];

/** A sink of a user of its own, with a database for each of its services. */
async function sinkOfUser(context: TestContext, { query, ...at }: TestDatabase) {
  const user = `deneb_user_${at.database.slice("deneb_test_".length)}`;
  await query(`CREATE ROLE ${user} LOGIN CREATEDB PASSWORD 'right'`);
  await query(`GRANT CREATE ON DATABASE ${at.database} TO ${user}`);
  const [first, second] = [`${at.database}_first`, `${at.database}_second`];
  const config = onPostgresql({ ...at, user, password: "right" }, at.database);
  const { sink } = sinkOf({ ...config, data_model: "dm-by-entity-database" });
  context.after(async () => {
    await sink.stop(never);
    for (const name of [first, second]) await query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await query(`REVOKE CREATE ON DATABASE ${at.database} FROM ${user}`);
    await query(`DROP OWNED BY ${user} CASCADE`);
    await query(`DROP ROLE ${user}`);
  });
  const on = async (statements: readonly string[]) => {
    for (const statement of statements) await query(statement.replaceAll("DATABASE_", first).replaceAll("USER_", user));
    await query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", [user]);
    const left = "SELECT 1 FROM pg_stat_activity WHERE usename = $1";
    await until(
      () => query(left, [user]),
      ({ length }) => length === 0,
    );
    // What the server said to its connections may have come together with the answer, and be read behind it.
    await nextTurn();
  };
  return { sink, first, second, on };
}

for (const { what, begins, ends, says, ofOne = false } of faults)
  test(`PostgreSQL: a database of a service that ${what} ${ofOne ? "is distinguished from a server that is away" : "is waited for, whoever else takes rows"}`, {
    skip: noPostgresql,
  }, async (context) => {
    if (database === undefined) return;
    const { sink, first, second, on } = await sinkOfUser(context, database);
    for (const service of [first, second]) await sink.persist(eventFor(service, "1"), never);
    await on(begins);

    // The first one may find that its connection was ended.
    const refused = () =>
      until(
        () => sink.persist(eventFor(first, "2"), never).catch(caught),
        (error) => says.test(reasonOf(error)),
      );
    const failure = await refused();
    await sink.persist(eventFor(second, "2"), never).catch(caught);
    const answer = await sink.answers(await refused(), never).catch(() => false);
    await on(ends);
    await until(
      () => sink.persist(eventFor(first, "3"), never).then(() => true, caught),
      (stored) => stored === true,
    );

    assert.deepEqual([Reflect.get(Object(failure), "retryable"), answer], [true, ofOne && "passing"]);
    const client = new pg.Client({ ...serverOfTests(), database: first });
    await client.connect();
    const { rows } = await client.query(`SELECT a FROM ${first}.e ORDER BY ctid`);
    await client.end();
    assert.deepEqual(rows, [{ a: "1" }, { a: "3" }]);
  });

test("PostgreSQL: the sink says the positions of the other databases each time while that of one service refuses connections, and its events are not counted", {
  skip: noPostgresql,
}, async (context) => {
  if (database === undefined) return;
  const { sink, first, second, on } = await sinkOfUser(context, database);
  for (const service of [first, second])
    await sink.persist({ ...eventFor(service, "1"), position: at(`${service}:1`) }, never);
  await on(["ALTER DATABASE DATABASE_ ALLOW_CONNECTIONS false"]);

  const told = [await sink.positions.stored(never), await sink.positions.stored(never)];
  const counted = await sink.positions.summary(never).catch(caught);
  await on(["ALTER DATABASE DATABASE_ ALLOW_CONNECTIONS true"]);

  assert.deepEqual(told, [[`${second}:1`], [`${second}:1`]]);
  assert.match(reasonOf(counted), /is not currently accepting connections/);
  assert.deepEqual([...(await sink.positions.stored(never))].sort(), [`${first}:1`, `${second}:1`]);
});

test("PostgreSQL: a database that refuses connections is waited for, also while an older connection takes rows", {
  skip: noPostgresql,
}, async (context) => {
  if (database === undefined) return;
  const own = await postgresqlDatabase();
  assert.ok(own !== undefined);
  const { sink } = sinkOf(onPostgresql(own, own.database));
  context.after(async () => {
    await sink.stop(never);
    await own.drop();
  });
  for (const service of ["locked", "free"]) await sink.persist(eventFor(service, "1"), never);
  const holder = new pg.Client({ ...serverOfTests(), database: own.database });
  await holder.connect();
  await holder.query("BEGIN; LOCK TABLE locked.e IN ACCESS EXCLUSIVE MODE");
  const held = sink.persist(eventFor("locked", "2"), never);
  await until(
    () =>
      database.query("SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event_type = 'Lock'", [own.database]),
    ({ length }) => length === 1,
  );
  await database.query(`ALTER DATABASE ${own.database} ALLOW_CONNECTIONS false`);

  const failure = await sink.persist(eventFor("free", "2"), never).catch(caught);
  await holder.end();
  await held;
  const answer = await sink.answers(failure, never);
  await database.query(`ALTER DATABASE ${own.database} ALLOW_CONNECTIONS true`);
  await sink.persist(eventFor("free", "3"), never);

  assert.match(reasonOf(failure), /is not currently accepting connections/);
  assert.deepEqual([Reflect.get(Object(failure), "retryable"), answer], [true, false]);
});

const program = await installedProgram("pgbouncer");
test("PgBouncer: a write that gets no connection of the server in time is waited for", {
  skip: program === undefined ? "PgBouncer is not installed" : noPostgresql,
}, async (context) => {
  if (database === undefined || program === undefined) return;
  const pooler = await startOwnPgbouncer(program, database, ["default_pool_size = 1", "query_wait_timeout = 1"]);
  context.after(() => pooler.stop());
  const { user, password } = database;
  const { sink } = sinkOf(onPostgresql({ ...pooler, user, password }, database.database));
  context.after(() => sink.stop(never));
  for (const service of ["one", "other"]) await sink.persist(eventFor(service, "1"), never);
  const holder = new pg.Client({ host: pooler.host, port: pooler.port, user, password, database: database.database });
  await holder.connect();
  await holder.query("BEGIN");

  const failure = await sink.persist(eventFor("one", "2"), never).catch(caught);
  await holder.end();
  const answer = await sink.answers(failure, never);
  await sink.persist(eventFor("one", "3"), never);

  assert.match(reasonOf(failure), /query_wait_timeout/);
  assert.deepEqual([Reflect.get(Object(failure), "retryable"), answer], [true, false]);
});

const accounts = [
  { what: "is locked", statement: "ALTER USER USER_ ACCOUNT LOCK", says: /locked; ALTER USER .* ACCOUNT UNLOCK/i },
  {
    what: "has a password that expired",
    statement: "ALTER USER USER_ PASSWORD EXPIRE",
    says: /the password for .* has expired: /,
  },
  { what: "has another password", statement: "ALTER USER USER_ IDENTIFIED BY 'other'", says: /wrong user or password/ },
] as const;

/** A user of the server with all rights. */
async function userOf(context: TestContext, { query, prefix }: TestServer): Promise<string> {
  const user = `${prefix}user`.slice(-30);
  await query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'right'`);
  await query(`GRANT ALL PRIVILEGES ON *.* TO '${user}'@'%'`);
  context.after(() => query(`DROP USER '${user}'@'%'`));
  return user;
}

for (const { what, statement, says } of accounts)
  test(`MySQL: an account that ${what} is waited for, also while an older connection takes rows`, {
    skip: noMysql,
  }, async (context) => {
    if (server === undefined) return;
    const { query, host, port, password, prefix } = server;
    const user = await userOf(context, server);
    const { sink } = sinkOf({ ...onMysql({ host, port, user, password: "right" }), rdb_maxPoolIdle: 1 });
    context.after(() => sink.stop(never));
    const [locked, free] = [`${prefix}locked${what.length}`, `${prefix}free${what.length}`];
    for (const service of [locked, free]) await sink.persist(eventFor(service, "1"), never);
    const holder = await createConnection({ host, port, user: server.user, password });
    await holder.query(`LOCK TABLES ${locked}.e WRITE`);
    const held = sink.persist(eventFor(locked, "2"), never);
    await until(
      () => query(`SELECT 1 FROM information_schema.processlist WHERE user = '${user}' AND info LIKE 'INSERT%'`),
      ({ length }) => length === 1,
    );
    await query(statement.replace("USER_", `'${user}'@'%'`));

    const failure = await sink.persist(eventFor(free, "2"), never).catch(caught);
    await holder.end();
    await held;
    const answer = await sink.answers(failure, never);

    assert.match(reasonOf(failure), says);
    assert.deepEqual([Reflect.get(Object(failure), "retryable"), answer], [true, false]);
  });
