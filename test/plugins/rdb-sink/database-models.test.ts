import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { postgresqlDatabase, type TestDatabase } from "../../support/postgresql.js";
import { entity, eventOf, type LoggingSink, never, sinkOf } from "./sinks.js";
import { v2Attribute, v2Entity, v2Event } from "./v2-events.js";

const database = await postgresqlDatabase();
const skip = database === undefined ? "PostgreSQL is not reachable" : false;
/** The services of the tests are databases of the server, and begin with the name of that of the tests. */
const made: string[] = [];
after(async () => {
  for (const name of made) await database?.query(`DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`);
  await database?.drop();
});

interface Given {
  readonly server: TestDatabase;
  readonly sink: LoggingSink["sink"];
  service(name: string): string;
}

function given(data_model: string, run: (given: Given) => Promise<void>) {
  return async () => {
    if (database === undefined) throw new Error("PostgreSQL is not reachable");
    const { sink } = sinkOf({
      rdb_host: database.host,
      rdb_port: database.port,
      rdb_username: database.user,
      rdb_password: database.password,
      rdb_database: database.database,
      data_model,
    });
    const service = (name: string) => {
      made.push(`${database.database}_${name}`);
      return `${database.database}_${name}`;
    };
    try {
      await run({ server: database, sink, service });
    } finally {
      await sink.stop(never);
    }
  };
}

async function countIn({ host, port, user, password }: TestDatabase, database: string, table: string): Promise<number> {
  const client = new pg.Client({ host, port, user, password, database });
  await client.connect();
  try {
    return (await client.query(`SELECT 1 FROM ${table}`)).rows.length;
  } finally {
    await client.end();
  }
}

const models = [
  { model: "dm-by-entity-database", table: (service: string) => `"${service}".wheels_car1_t` },
  { model: "dm-by-entity-database-schema", table: () => "wheels.wheels_car1_t" },
  { model: "dm-by-entity-type-database", table: (service: string) => `"${service}".wheels_t` },
  { model: "dm-by-fixed-entity-type-database-schema", table: () => "wheels.t" },
] as const;

for (const [index, { model, table }] of models.entries())
  test(
    `${model} makes a database for each service`,
    { skip },
    given(model, async ({ server, sink, service }) => {
      const services = [service(`a${index}`), service(`b${index}`)];
      const body = v2Entity("car1", v2Attribute("p", "Number", 1));

      await sink.persist({ events: services.map((name) => v2Event(body, name, { servicePath: "/wheels" })) }, never);
      await sink.persist({ events: services.map((name) => v2Event(body, name, { servicePath: "/wheels" })) }, never);

      for (const name of services) assert.equal(await countIn(server, name, table(name)), 2);
    }),
  );

test(
  "more databases than are kept open at once all get their rows, and a repeat stores none twice",
  { skip },
  given("dm-by-entity-database", async ({ server, sink, service }) => {
    const services = Array.from({ length: 22 }, (_, index) => service(`many${index}`));
    const good = services.map((name) => eventOf(entity("e", { a: "1" }), name));
    await sink.persist({ events: good }, never);
    const [last = ""] = services.slice(-1);
    await server.query(`ALTER DATABASE "${last}" ALLOW_CONNECTIONS false`);
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [last]);

    const again = { events: services.map((name) => eventOf(entity("e", { a: "2" }), name)) };
    await assert.rejects(sink.persist(again, never), { retryable: true });
    await server.query(`ALTER DATABASE "${last}" ALLOW_CONNECTIONS true`);
    await sink.persist(again, never);

    for (const name of services) assert.equal(await countIn(server, name, `"${name}".e`), 2, name);
    const [{ count } = {}] = await server.query(
      "SELECT count(DISTINCT datname) AS count FROM pg_stat_activity WHERE datname LIKE $1 AND application_name = 'deneb'",
      [`${server.database}\\_many%`],
    );
    assert.ok(Number(count) <= 20, `${count} databases are connected`);
  }),
);

test(
  "an error in the database of a service names that one, and not the one that the file has",
  { skip },
  given("dm-by-entity-database", async ({ server, service }) => {
    const name = service("plain");
    const { sink } = sinkOf({
      rdb_host: server.host,
      rdb_port: server.port,
      rdb_username: server.user,
      rdb_password: server.password,
      rdb_database: server.database,
      data_model: "dm-by-entity-database",
      attr_geometry: true,
    });
    const place = v2Entity("car1", v2Attribute("place", "geo:point", "1, 2"));

    const refused = sink.persist({ events: [v2Event(place, name)] }, never);

    const says = new RegExp(
      `^PostGIS is missing in database "${name}" .*: psql -d ${name} -c "CREATE EXTENSION postgis"`,
    );
    await assert.rejects(refused, { message: says, retryable: true });
    await sink.stop(never);
  }),
);

test(
  "a missing right to create databases is one line that says so",
  { skip },
  given("dm-by-entity-database", async ({ server, service }) => {
    const user = `${server.database}_nodb`;
    await server.query(`CREATE USER ${user} PASSWORD 'x'`);
    const { host, port } = server;
    const { sink } = sinkOf({
      rdb_host: host,
      rdb_port: port,
      rdb_username: user,
      rdb_password: "x",
      rdb_database: server.database,
      data_model: "dm-by-entity-database",
    });

    const refused = sink.persist({ events: [eventOf(entity("e", { a: "1" }), service("refused"))] }, never);

    await assert.rejects(refused, { message: /^a right is missing in .*create database.*grant it/, retryable: true });
    await sink.stop(never);
    await server.query(`DROP USER ${user}`);
  }),
);
