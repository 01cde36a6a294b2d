import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { type Batch, type Event, letterHeader } from "../../../core/sdk/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { mysqlServer, type TestServer } from "../../support/mysql.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

const server = await mysqlServer();
after(() => server?.drop());
const skip = server === undefined ? "MySQL is not reachable" : false;

interface Restricted {
  readonly server: TestServer;
  readonly config: Partial<RdbConfig>;
  /** The databases of the user. */
  readonly databases: readonly [string, string];
}

/** Runs with a user that may use two databases and create no other one. */
function restricted(run: (given: Restricted) => Promise<void>) {
  return async () => {
    if (server === undefined) throw new Error("MySQL is not reachable");
    const { host, port, prefix, query } = server;
    const user = `deneb_${randomBytes(6).toString("hex")}`;
    const own = randomBytes(3).toString("hex");
    const databases = [`${prefix}${own}_a`, `${prefix}${own}_b`] as const;
    await query(`CREATE USER '${user}'@'%' IDENTIFIED BY 'right'`);
    for (const database of databases) {
      await query(`CREATE DATABASE ${database}`);
      await query(`GRANT ALL ON \`${database.replaceAll("_", "\\_")}\`.* TO '${user}'@'%'`);
    }
    const account = { rdb_username: user, rdb_password: "right" };
    try {
      await run({
        server,
        databases,
        config: { rdb_dialect: "mysql", rdb_host: host, rdb_port: port, ...account },
      });
    } finally {
      await query(`DROP USER '${user}'@'%'`);
    }
  };
}

let channels = 0;
const newChannel = () => `c${process.pid}x${++channels}`;

/** A batch of one event at a place of a channel. */
function batchAt(service: string, channel: string, at: number, headers: Event["headers"] = {}): Batch {
  const event = eventOf(entity("e", { a: String(at) }), service);
  return {
    events: [{ ...event, headers: { ...event.headers, ...headers } }],
    position: {
      text: `${channel}:${at}`,
      coveredBy: (position) => (Number(position.split(":")[1]) >= at ? [event] : []),
    },
  };
}

const tablesIn = async ({ query }: TestServer, database: string) =>
  (await query(`SELECT table_name AS name FROM information_schema.tables WHERE table_schema = '${database}'`))
    .flatMap(({ name }) => name ?? [])
    .filter((name) => name.startsWith("deneb_") && name !== "deneb_tables")
    .sort();

test("a sink with another rdb_bookkeeping_database counts in another place", () => {
  const place = (rdb_bookkeeping_database: string) =>
    sinkOf({ rdb_dialect: "mysql", rdb_host: "db.test", rdb_port: 3306, rdb_bookkeeping_database }).sink.positions
      .place;

  assert.deepEqual([place(""), place("kept")], ["mysql db.test:3306 postgres", "mysql db.test:3306 postgres kept"]);
});

test(
  "a user without the right to create the database deneb keeps positions and dead letters with the first rows, and finds them again",
  { skip },
  restricted(async ({ server, config, databases: [a, b] }) => {
    const channel = newChannel();
    const first = sinkOf(config);
    await first.sink.persist(batchAt(b, channel, 1), never);
    await first.sink.persist(batchAt(a, channel, 2, { [letterHeader]: "l1" }), never);
    await first.sink.stop(never);

    const second = sinkOf(config, undefined, undefined, { run: "next" });
    const positions = await second.sink.positions.stored(never);
    await second.sink.persist(batchAt(a, channel, 3), never);
    await second.sink.stop(never);

    assert.deepEqual(await tablesIn(server, a), []);
    assert.deepEqual(await tablesIn(server, b), ["deneb_letters", "deneb_positions"]);
    assert.deepEqual(positions, [`${channel}:2`]);
    const rows = await server.query(
      `SELECT deneb_position AS position, deneb_owner AS owner FROM ${b}.deneb_positions`,
    );
    assert.deepEqual(rows, [{ position: `${channel}:3`, owner: "next" }]);
    const told = first.lines.filter(({ message }) =>
      message.startsWith("positions and replayed dead letters are kept"),
    );
    assert.deepEqual(
      told.map(({ level }) => level),
      ["warn"],
    );
    assert.match(JSON.stringify(told), new RegExp(`"database":"${b}","instead":"deneb"`));
  }),
);

test(
  "rdb_database comes before the database of the first rows, and rdb_bookkeeping_database before both",
  { skip },
  restricted(async ({ server, config, databases: [a, b] }) => {
    const configured = sinkOf({ ...config, rdb_database: a });
    await configured.sink.persist(batchAt(b, newChannel(), 1), never);
    await configured.sink.stop(never);
    const chosen = sinkOf({ ...config, rdb_database: a, rdb_bookkeeping_database: b });
    await chosen.sink.persist(batchAt(a, newChannel(), 1), never);
    await chosen.sink.stop(never);

    assert.deepEqual(await tablesIn(server, a), ["deneb_positions"]);
    assert.deepEqual(await tablesIn(server, b), ["deneb_positions"]);
    assert.deepEqual(
      chosen.lines.filter(({ level }) => level === "warn"),
      [],
    );
  }),
);

test(
  "a second agent that moved a position there is noticed",
  { skip },
  restricted(async ({ config, databases: [a] }) => {
    const channel = newChannel();
    const [one, other] = [
      sinkOf(config, undefined, undefined, { run: "one" }),
      sinkOf(config, undefined, undefined, { run: "other" }),
    ];
    await one.sink.persist(batchAt(a, channel, 1), never);
    await other.sink.positions.stored(never);
    await one.sink.persist(batchAt(a, channel, 2), never);

    await assert.rejects(other.sink.persist(batchAt(a, channel, 3), never), { code: "POSITION_CONFLICT" });
    await one.sink.stop(never);
    await other.sink.stop(never);
  }),
);

test(
  "positions kept elsewhere are found when the user may create the chosen database later",
  { skip },
  restricted(async ({ config, databases: [a, b] }) => {
    const channel = newChannel();
    const before = sinkOf(config);
    await before.sink.persist(batchAt(a, channel, 1), never);
    await before.sink.stop(never);

    const after = sinkOf({ ...config, rdb_bookkeeping_database: b });
    const positions = await after.sink.positions.stored(never);
    await after.sink.stop(never);

    assert.deepEqual(positions, [`${channel}:1`]);
  }),
);
