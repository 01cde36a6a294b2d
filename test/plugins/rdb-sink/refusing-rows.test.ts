import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AgentError, codeOf, type Event, retryableOf } from "../../../core/sdk/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { mysqlServer } from "../../support/mysql.js";
import { postgresqlDatabase } from "../../support/postgresql.js";
import { entity, eventOf, never, onMysql, onPostgresql, sinkOf } from "./sinks.js";

const server = await mysqlServer();
const database = await postgresqlDatabase();
after(async () => {
  await server?.drop();
  await database?.drop();
});

interface Refusing {
  readonly config: Partial<RdbConfig>;
  readonly service: string;
  /** The entity, and table, before `bad`. */
  readonly first?: string;
  /** Has the table `bad` refuse some rows. */
  refuse(): Promise<unknown>;
}

/** The events of a failed batch with the code of their own error, and whether that may pass. */
async function namedIn({ config, service, first = "x", refuse }: Refusing): Promise<readonly string[]> {
  const { sink } = sinkOf(config, undefined, undefined, { name: `${service}named` });
  const names = [first, "bad", "y"];
  const batch = (numbers: readonly number[]) =>
    numbers.flatMap((n) => names.map((name) => eventOf(entity(name, { n: String(n) }), service)));
  try {
    await sink.persist({ events: batch([0]) }, never);
    await refuse();
    const events = batch([1, 2, 3, 4, 5, 6, 7]);
    const failure = await sink.persist({ events }, never).catch((error: unknown) => error);
    assert.ok(failure instanceof AgentError);
    const { events: failed = [] } = failure;
    assert.ok("get" in failed);
    assert.equal(failed.size, events.length);
    const shown = (event: Event, at: number) => {
      const error = failed.get(event);
      return codeOf(error) === "NOT_WRITTEN" ? [] : [`${names[at % 3]}${Math.floor(at / 3) + 1} ${retryableOf(error)}`];
    };
    return events.flatMap(shown);
  } finally {
    await sink.stop(never);
  }
}

const kinds = [
  { what: "a trigger refuses", isCheck: false, retryable: true },
  { what: "a constraint refuses", isCheck: true, retryable: false },
];

for (const { what, isCheck, retryable } of kinds)
  test(`PostgreSQL: of rows that ${what} the events are named at the first write, and those of other tables as not written`, {
    skip: database === undefined,
  }, async () => {
    if (database === undefined) return;
    const { query } = database;
    const config = onPostgresql(database, database.database);
    const service = isCheck ? "checked" : "triggered";
    const refuse = async () => {
      if (isCheck) return await query(`ALTER TABLE ${service}.bad ADD CHECK (n NOT IN ('3', '6'))`);
      await query(`CREATE FUNCTION ${service}.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.n IN ('3', '6') THEN RAISE EXCEPTION 'no %', NEW.n; END IF; RETURN NEW; END $$`);
      return await query(
        `CREATE TRIGGER t BEFORE INSERT ON ${service}.bad FOR EACH ROW EXECUTE FUNCTION ${service}.f()`,
      );
    };

    const named = await namedIn({ config, service, refuse });

    assert.deepEqual(named, [`bad3 ${retryable}`, `bad6 ${retryable}`]);
    assert.deepEqual(await query(`SELECT count(*)::text AS n FROM ${service}.bad`), [{ n: "1" }]);
  });

for (const { what, isCheck, retryable } of kinds)
  test(`MySQL: of rows that ${what} the events are named at the first write, and those of other tables as not written`, {
    skip: server === undefined,
  }, async () => {
    if (server === undefined) return;
    const service = `${server.prefix}${isCheck ? "c" : "t"}`;
    const refuse = () =>
      isCheck
        ? server.query(`ALTER TABLE ${service}.bad ADD CHECK (n NOT IN ('3', '6'))`)
        : server.query(`CREATE TRIGGER ${service}.t BEFORE INSERT ON ${service}.bad FOR EACH ROW
            IF NEW.n IN ('3', '6') THEN SIGNAL SQLSTATE '45000'; END IF`);

    const named = await namedIn({ config: onMysql(server), service, refuse });

    assert.deepEqual(named, [`bad3 ${retryable}`, `bad6 ${retryable}`]);
    assert.deepEqual(await server.query(`SELECT CAST(count(*) AS CHAR) AS n FROM ${service}.bad`), [{ n: "1" }]);
  });

for (const name of ["PostgreSQL", "MySQL"])
  test(`${name}: the error of a refused row names its table`, {
    skip: server === undefined || database === undefined,
  }, async () => {
    if (server === undefined || database === undefined) return;
    const isMysql = name === "MySQL";
    const service = isMysql ? `${server.prefix}n` : "told";
    const { sink } = sinkOf(isMysql ? onMysql(server) : onPostgresql(database, database.database));
    try {
      await sink.persist({ events: [eventOf(entity("bad", { n: "1" }), service)] }, never);
      await (isMysql ? server : database).query(
        isMysql
          ? `ALTER TABLE ${service}.bad ADD more int NOT NULL`
          : "ALTER TABLE told.bad ALTER n TYPE integer USING n::integer",
      );

      await assert.rejects(
        sink.persist({ events: [eventOf(entity("bad", { n: "x" }), service)] }, never),
        (error) => error instanceof AgentError && error.message.endsWith(`; the table is "${service}.bad"`),
      );
    } finally {
      await sink.stop(never);
    }
  });

test("PostgreSQL: rows that a trigger takes behind those of events before them are not named with those that it refuses", {
  skip: database === undefined,
}, async () => {
  if (database === undefined) return;
  const { query } = database;
  const config = onPostgresql(database, database.database);
  const refuse = async () => {
    await query(`CREATE FUNCTION behind.f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF NEW.n IN ('3', '6') OR NOT EXISTS (SELECT 1 FROM behind.a WHERE n = NEW.n)
      THEN RAISE EXCEPTION 'no device' USING ERRCODE = 'foreign_key_violation'; END IF; RETURN NEW; END $$`);
    await query("CREATE TRIGGER t BEFORE INSERT ON behind.bad FOR EACH ROW EXECUTE FUNCTION behind.f()");
    await query("ALTER TABLE behind.y ADD CHECK (n = '0')");
  };

  const named = await namedIn({ config, service: "behind", first: "a", refuse });

  assert.deepEqual(named, ["bad3 false", "bad6 false"]);
});

test("MySQL: rows that a foreign key takes behind those of events before them are not named with those that it refuses", {
  skip: server === undefined,
}, async () => {
  if (server === undefined) return;
  const service = `${server.prefix}f`;
  const refuse = async () => {
    await server.query(
      `ALTER TABLE ${service}.a MODIFY n VARCHAR(20), ADD m VARCHAR(20) AS (IF(n IN ('3', '6'), NULL, n)) STORED UNIQUE`,
    );
    await server.query(
      `ALTER TABLE ${service}.bad MODIFY n VARCHAR(20), ADD FOREIGN KEY (n) REFERENCES ${service}.a (m)`,
    );
  };

  const named = await namedIn({ config: onMysql(server), service, first: "a", refuse });

  assert.deepEqual(named, ["bad3 false", "bad6 false"]);
});

test("PostgreSQL: rows whose refusal takes seconds are not tried apart, so that the write ends within its limit", {
  skip: database === undefined,
}, async () => {
  if (database === undefined) return;
  const { query } = database;
  const config = onPostgresql(database, database.database);
  let seconds = 0;
  const now = () => {
    seconds += 6;
    return new Date(seconds * 1000);
  };
  const { sink } = sinkOf(config, now, undefined, { name: "slow" });
  const batch = (...values: readonly string[]) => ({
    events: values.map((n) => eventOf(entity("bad", { n }), "slowly")),
  });
  await sink.persist(batch("0"), never);
  await query("ALTER TABLE slowly.bad ADD CHECK (n = '0')");

  const failure = await sink.persist(batch("1", "2", "3", "4"), never).catch((error: unknown) => error);
  await sink.stop(never);

  assert.ok(failure instanceof AgentError);
  assert.equal(failure.code, "DATA_REFUSED");
  assert.equal(failure.events, undefined);
});
