import assert from "node:assert/strict";
import { after } from "node:test";
import { codeOf, reasonOf, retryableOf } from "../../core/sdk/index.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";
import { mysqlPrograms } from "../support/mysql-programs.js";
import { startOwnMysql } from "../support/own-mysql.js";
import { at } from "../support/position.js";

const MARK = "ALTER TABLE @ ADD COLUMN deneb_format_2 integer";
const UNMARK = "ALTER TABLE @ DROP COLUMN deneb_format_2";

/** The code and the words of a refusal that says what was found, and what to do. */
function isRefusal(error: unknown): boolean {
  assert.equal(codeOf(error), "TABLE_OF_NEWER_VERSION");
  assert.equal(retryableOf(error), true, "the events wait");
  assert.match(
    reasonOf(error),
    /^using table \S+: it has version 2 of its format, and this agent knows version 1; start /,
  );
  return true;
}

// On a server that others use their sinks would meet the tables of a later version, since they look through all databases.
const programs = await mysqlPrograms();
const own = programs && (await startOwnMysql(programs));
if (own !== undefined) {
  process.env["DENEB_TEST_MYSQLHOST"] = own.host;
  process.env["DENEB_TEST_MYSQLPORT"] = String(own.port);
  process.env["DENEB_TEST_MYSQLUSER"] = own.user;
  process.env["DENEB_TEST_MYSQLPASSWORD"] = "";
}

await onEveryDatabase("tables of a later version", [
  {
    name: "positions of a later version stop the sink without a row, until they are those of this version again",
    service: "later_positions",
    async run(place, service) {
      // The server of MySQL is shared, and so is its usual table of positions.
      const isShared = place.prefix !== "";
      const own = isShared ? { rdb_bookkeeping_database: service } : {};
      const [schema, table] = isShared ? [service, "deneb_positions"] : place.positions(service);
      const room = eventOf(entity("room", { a: "1" }), service);
      const first = await place.sink(own);
      await first.sink.persist({ events: [room], position: at(`${service}:1`) }, never);
      const before = await place.rows(service, "room");
      await place.alter(schema, table, MARK);
      const { sink } = await place.sink(own);
      const next = { events: [room], position: at(`${service}:2`) };

      await assert.rejects(sink.positions.stored(never), isRefusal);
      await assert.rejects(sink.persist(next, never), isRefusal);
      assert.deepEqual(await place.rows(service, "room"), before);

      await place.alter(schema, table, UNMARK);
      assert.ok((await sink.positions.stored(never)).includes(`${service}:1`));
      await first.sink.stop(never);
      await sink.persist(next, never);
      assert.equal((await place.rows(service, "room")).length, 2);
    },
  },
  {
    name: "a list of tables of a later version stops writes, retention and commands",
    service: "later_register",
    async run(place, service) {
      const room = eventOf(entity("room", { a: "1" }), service);
      await persist(await place.sink(), room);
      const before = await place.rows(service, "room");
      const [schema, table] = place.registerOf(service);
      await place.alter(schema, table, MARK);
      const { sink } = await place.sink();

      await assert.rejects(sink.persist({ events: [room] }, never), isRefusal);
      await assert.rejects(async () => await place.data().tables?.({}, never), isRefusal);
      assert.deepEqual(await place.rows(service, "room"), before);
    },
  },
]);
// Behind what the databases registered for the end, which needs the server.
after(() => own?.stop());
