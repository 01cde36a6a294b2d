import assert from "node:assert/strict";
import { after, test } from "node:test";
import { createConnection } from "mysql2/promise";
import { AgentError, type Event, reasonOf, retryableOf } from "../../../core/sdk/index.js";
import { plain } from "../../../core/sql/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { databases } from "../../../plugins/rdb-sink/databases.js";
import plugin from "../../../plugins/rdb-sink/index.js";
import { mysqlServer, type TestServer } from "../../support/mysql.js";
import { recordingLog } from "../../support/recording-log.js";
import { closedPort } from "./fake-server.js";
import { foldsUnicode } from "./folding-server.js";
import { configOf, entity, eventOf, type LoggingSink, never, onMysql, sinkOf } from "./sinks.js";
import { v2Attribute, v2Entity, v2Event } from "./v2-events.js";

const server = await mysqlServer();
after(() => server?.drop());
const skip = server === undefined ? "MySQL is not reachable" : false;
const version = (await server?.query("SELECT VERSION() AS version"))?.[0]?.["version"];
const isMariaDb = version?.includes("MariaDB") === true;

interface Given {
  readonly server: TestServer;
  readonly config: Partial<RdbConfig>;
  readonly made: LoggingSink;
  readonly service: string;
}

let services = 0;

function onServer(run: (given: Given) => Promise<void>, more: Partial<RdbConfig> = {}) {
  return async () => {
    if (server === undefined) throw new Error("MySQL is not reachable");
    const { prefix } = server;
    const config: Partial<RdbConfig> = { ...onMysql(server), ...more };
    const made = sinkOf(config);
    services += 1;
    try {
      await run({ server, config, made, service: `${prefix}only${services}` });
    } finally {
      await made.sink.stop(never);
    }
  };
}

const persist = ({ sink }: LoggingSink, service: string, a: string, signal = never) =>
  sink.persist({ events: [eventOf(entity("e", { a }), service)] }, signal);

test(
  "names keep their case, and columns of the predecessor are used unchanged",
  { skip },
  onServer(async ({ server, made, service }) => {
    await server.query(`CREATE DATABASE ${service}`);
    await server.query(
      `CREATE TABLE ${service}.\`4wheels_Car1_T\` (recvTimeTs text, recvTime text, fiwareServicePath text, entityId text,
       entityType text, attrName text, attrType text, attrValue text, attrMd text)`,
    );
    const row = sinkOf({ ...onMysql(server), attr_persistence: "row" });
    const body = v2Entity("Car1", v2Attribute("Speed", "float", 112.9));

    await row.sink.persist({ events: [v2Event(body, service, { servicePath: "/4wheels" })] }, never);
    await made.sink.persist({ events: [v2Event(v2Entity("Car2", v2Attribute("Speed", "float", 1)), service)] }, never);
    await row.sink.stop(never);

    const rows = await server.query(`SELECT attrName, attrValue FROM ${service}.\`4wheels_Car1_T\``);
    assert.deepEqual(rows, [{ attrName: "Speed", attrValue: "112.9" }]);
    const [column = {}] = await server.query(`SELECT * FROM ${service}.Car2_T`);
    assert.deepEqual(Object.keys(column), [
      "recvTime",
      "fiwareServicePath",
      "entityId",
      "entityType",
      "Speed",
      "Speed_md",
    ]);
  }),
);

test(
  "columns are those that the server takes for the same, in any alphabet",
  { skip },
  onServer(async ({ server, made, service }) => {
    for (const [name, value] of [
      ["ΟΔΟΣ", "1"],
      ["οδος", "2"],
      ["οδοσ", "3"],
      ["Ж", "4"],
      ["ж", "5"],
    ] as const)
      await made.sink.persist({ events: [eventOf(entity("e", { [name]: value }), service)] }, never);

    const [row = {}] = await server.query(
      `SELECT max(\`ΟΔΟΣ\`) AS a, max(\`οδος\`) AS b, max(\`Ж\`) AS c FROM ${service}.e`,
    );
    const areOne = await foldsUnicode(server);
    assert.deepEqual(row, { a: "3", b: areOne ? "3" : "2", c: "5" });
  }),
);

const refused = [
  { type: "int", value: "12 km" },
  { type: "double", value: "1.5x" },
  { type: "enum('a', 'b')", value: "c" },
  { type: "int CHECK (a > 5)", value: "1" },
] as const;
for (const { type, value } of refused)
  test(
    `"${value}" in a column ${type} of somebody else is refused, and does not hold up others`,
    { skip },
    onServer(async ({ server, made, service }) => {
      await server.query(`CREATE DATABASE ${service}`);
      await server.query(`CREATE TABLE ${service}.e (recvTime text, entityId text, entityType text, a ${type})`);

      await assert.rejects(persist(made, service, value), { code: "DATA_REFUSED", retryable: false });
    }),
  );

test(
  "columns for which a page has no room are refused at once when the server has refused them, and the rows beside them are named",
  { skip },
  onServer(async ({ server, made, service }) => {
    const wide = (from: number, to: number) =>
      eventOf(
        entity("e", Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`a${from + n}`, "1"] as const))),
        service,
      );
    const failing = async (...events: readonly Event[]) => {
      const written = made.sink.persist({ events }, never);
      return await written.then(
        () => undefined,
        (error: unknown) => error,
      );
    };
    const byServer = await failing(wide(0, 600));
    const events = [wide(0, 181), wide(180, 600), wide(0, 600), wide(0, 2)];
    const byAgent = await failing(...events);

    assert.match(reasonOf(byServer), /^a table on the server .* has too many columns: Row size too large/);
    assert.match(reasonOf(byAgent), /^storing into table "e" .*: it would have 603 columns, the limit is 602; /);
    assert.ok(byAgent instanceof AgentError && byAgent.events instanceof Map);
    const { events: named } = byAgent;
    assert.deepEqual(
      events.map((event) => retryableOf(named.get(event))),
      [true, false, false, true],
    );
    await made.sink.persist({ events: events.filter((event) => retryableOf(named.get(event)) === true) }, never);
    assert.deepEqual(await server.query(`SELECT count(*) AS n FROM ${service}.e`), [{ n: "2" }]);
  }),
);

const doubtful = [
  {
    what: "a view with a CHECK OPTION",
    objects: ["TABLE b (COLUMNS)", "VIEW e AS SELECT * FROM b WHERE a = 'x' WITH CHECK OPTION"],
  },
  {
    what: "partitions of others",
    objects: ["TABLE e (COLUMNS, n int DEFAULT 5) PARTITION BY RANGE (n) (PARTITION p VALUES LESS THAN (3))"],
  },
  {
    what: "a generated column",
    objects: ["TABLE e (recvTime text, entityId text, entityType text, a text AS (entityId))"],
  },
  {
    what: "an index over an expression",
    isLackedByMariaDb: true,
    objects: ["TABLE e (COLUMNS, KEY i ((CAST(a AS DECIMAL(1,1)))))"],
  },
  {
    what: "a function in a generated column",
    isLackedByMariaDb: true,
    objects: ["TABLE e (COLUMNS, g datetime AS (TIMESTAMPADD(YEAR, a + 9999, '2020-01-01')) STORED)"],
  },
] as const;
for (const { what, objects, ...other } of doubtful)
  test(
    `an event that ${what} refuses is found, and does not hold up others`,
    { skip: "isLackedByMariaDb" in other && isMariaDb ? "MariaDB has nothing of the kind" : skip },
    onServer(async ({ server, made, service }) => {
      const columns = "recvTime text, entityId text, entityType text, a text";
      await server.query(`CREATE DATABASE ${service}`);
      for (const object of objects)
        await server.query(`CREATE ${object.replace("COLUMNS", columns).replace(/ (e|b) /g, ` ${service}.$1 `)}`);

      await persist(made, `${service}beside`, "1");
      const failure = await persist(made, service, "1").catch((error: unknown) => error);

      assert.match(String(failure), /^AgentError/);
      assert.equal(await made.sink.answers(failure, never), "lasting");
    }),
  );

test(
  "new and wider columns of a table with few characters take all of Unicode",
  { skip },
  onServer(async ({ server, made, service }) => {
    await server.query(`CREATE DATABASE ${service}`);
    await server.query(
      `CREATE TABLE ${service}.e (recvTime text, entityId text, entityType text, a text CHARACTER SET utf8mb4) CHARACTER SET latin1`,
    );
    await persist(made, service, "日本");

    await made.sink.persist({ events: [eventOf(entity("e", { a: "😀".repeat(20_000), b: "日本" }), service)] }, never);

    const rows = await server.query(`SELECT LEFT(a, 2) AS a, b FROM ${service}.e`);
    assert.deepEqual(rows, [
      { a: "日本", b: null },
      { a: "😀😀", b: "日本" },
    ]);
  }),
);

test(
  "a connection whose write failed between two settings of its session has those of the server again",
  { skip },
  onServer(async ({ config }) => {
    const own = { name: "s", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
    const { driver } = databases.mysql.open(configOf({ ...config, rdb_maxPoolSize: 1 }), own);
    const at = { database: "", schema: "" } as const;
    const wait = async () => (await driver.read([plain(at, "SELECT @@SESSION.lock_wait_timeout")], never))[0]?.[0];
    const before = await wait();

    await assert.rejects(
      driver.write([plain(at, "SET SESSION lock_wait_timeout = 1"), plain(at, "DROP TABLE deneb_no.deneb_no")], never),
    );

    assert.equal(await wait(), before);
    await driver.close(never);
  }),
);

test(
  "a write that waits for a lock ends when the signal is aborted, and nothing of it is stored",
  { skip },
  onServer(async ({ server, made, service }) => {
    await persist(made, service, "1");
    const { host, port, user, password } = server;
    const blocker = await createConnection({ host, port, user, password });
    await blocker.query(`LOCK TABLES ${service}.e WRITE`);
    const controller = new AbortController();

    const failure = assert.rejects(persist(made, service, "2", controller.signal), {
      code: "WRITE_ABORTED",
      retryable: true,
    });
    const waiting = "SELECT 1 FROM information_schema.processlist WHERE state LIKE 'Waiting for table%' AND info LIKE ";
    while ((await server.query(`${waiting} '%${service}%' AND id <> connection_id()`)).length === 0);
    controller.abort();
    await failure;
    await made.sink.stop(never);
    await blocker.query("UNLOCK TABLES");
    await blocker.end();

    assert.equal((await server.query(`SELECT 1 FROM ${service}.e WHERE a = '2'`)).length, 0);
  }),
);

test(
  "a write that takes longer than rdb_statement_timeout is aborted and may be retried",
  { skip },
  onServer(
    async ({ server, made, service }) => {
      await persist(made, service, "1");
      const { host, port, user, password } = server;
      const blocker = await createConnection({ host, port, user, password });
      await blocker.query(`LOCK TABLES ${service}.e WRITE`);

      await assert.rejects(persist(made, service, "2"), {
        code: "STATEMENT_TIMEOUT",
        retryable: true,
        message: /SHOW FULL PROCESSLIST.* whether it waits for a lock/,
      });
      await blocker.end();
      await persist(made, service, "3");

      assert.equal((await server.query(`SELECT 1 FROM ${service}.e WHERE a = '3'`)).length, 1);
    },
    { rdb_options: "socketTimeout=300" },
  ),
);

test(
  "a connection that the server ended is replaced at the next write",
  { skip },
  onServer(async ({ server, config, service }) => {
    // A user of its own: others have connections to this server, too.
    const user = `deneb_ended_${process.pid}`;
    await server.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'right'`);
    await server.query(`GRANT ALL PRIVILEGES ON *.* TO '${user}'@'%'`);
    const made = sinkOf({ ...config, rdb_username: user, rdb_password: "right" });
    await persist(made, service, "1");
    const open = await server.query(`SELECT id FROM information_schema.processlist WHERE user = '${user}'`);
    for (const { id } of open) await server.query(`KILL ${id}`);

    await persist(made, service, "2").catch(() => persist(made, service, "2"));
    await made.sink.stop(never);
    await server.query(`DROP USER '${user}'@'%'`);

    assert.equal((await server.query(`SELECT 1 FROM ${service}.e`)).length, 2);
  }),
);

test(
  "a query gives every value as text, and only reads",
  { skip },
  onServer(async ({ config }) => {
    const context = { name: "query", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
    const query = async (text: string) => plugin.query?.(configOf(config), text, context);

    const result = await query("SELECT 9007199254740993 AS a, true AS b, NULL AS c, 'x' AS a");

    assert.deepEqual(result, { columns: ["a", "b", "c", "a"], rows: [["9007199254740993", "1", undefined, "x"]] });
    const odd = await query("SELECT 'p' AS `__proto__`, NULL AS constructor");
    assert.deepEqual(odd, { columns: ["__proto__", "constructor"], rows: [["p", undefined]] });
    await assert.rejects(query("CREATE DATABASE deneb_never"));
    await assert.rejects(query("SELECT 1; SELECT 2"));
  }),
);

test(
  "a wrong password and a missing right are one line that says what to do",
  { skip },
  onServer(async ({ server, config, service }) => {
    const user = `deneb_${process.pid}`;
    await server.query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'right'`);
    const attempt = async (rdb_password: string, rdb_options = "") => {
      const limited = sinkOf({ ...config, rdb_username: user, rdb_password, rdb_options });
      const failure = await persist(limited, service, "1").catch((error: unknown) => error);
      await limited.sink.stop(never);
      return failure instanceof Error ? failure.message : "";
    };

    const wrong = await attempt("wrong");
    const unright = await attempt("right");
    await server.query(`ALTER USER '${user}'@'%' REQUIRE SSL`);
    const unencrypted = await attempt("right", "sslMode=DISABLED");
    await server.query(`DROP USER '${user}'@'%'`);

    assert.match(wrong, /^wrong user or password for the server at .*; check rdb_username and rdb_password$/);
    assert.match(unright, /^a right is missing in the server at .*; grant it to the user$/);
    assert.match(unencrypted, /rdb_password, and whether the account requires TLS \(then sslMode=REQUIRED\)$/);
  }),
);

test("VERIFY_IDENTITY with an address instead of a name is refused, and says so", async () => {
  const { sink } = sinkOf({
    rdb_dialect: "mysql",
    rdb_port: await closedPort(),
    rdb_options: "sslMode=VERIFY_IDENTITY",
  });

  const failure = sink.persist({ events: [eventOf(entity("e", { a: "1" }), "s")] }, never);

  await assert.rejects(failure, { code: "HOST_NAME_NEEDED", message: /set rdb_host to the name/, retryable: true });
  await sink.stop(never);
});

test("a port without a server is one line, and is retried", async () => {
  const { sink } = sinkOf({ rdb_dialect: "mysql", rdb_port: await closedPort() });

  const failure = sink.persist({ events: [eventOf(entity("e", { a: "1" }), "s")] }, never);

  await assert.rejects(failure, {
    message: /^connection refused: no server listens at 127\.0\.0\.1:\d+; start it or check rdb_host and rdb_port$/,
    retryable: true,
  });
  await sink.stop(never);
});

test(
  "sslMode=REQUIRED never connects without TLS",
  { skip },
  onServer(async ({ server, config, service }) => {
    // MariaDB says it in a variable that MySQL 9 no longer has, MySQL in a status.
    const offers = [
      ...(await server.query("SHOW VARIABLES WHERE variable_name = 'have_ssl' AND value = 'YES'")),
      ...(await server.query("SHOW STATUS WHERE variable_name = 'Ssl_server_not_after' AND value <> ''")),
    ];
    const secured = sinkOf({ ...config, rdb_options: "sslMode=REQUIRED" });

    const failure = await persist(secured, service, "1").catch((error: unknown) => error);
    await secured.sink.stop(never);

    if (offers.length > 0) assert.ok(!(failure instanceof Error));
    else assert.match(failure instanceof Error ? failure.message : "", /does not offer TLS/);
  }),
);
