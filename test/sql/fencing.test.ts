import assert from "node:assert/strict";
import { type Batch, letterHeader } from "../../core/sdk/index.js";
import type { Place } from "../plugins/rdb-sink/databases.js";
import { onEveryDatabase } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";
import { at } from "../support/position.js";

const host = (name: string) => `${name},17,2026-01-01T00:00:00.000Z,0123456789abcdef`;
const conflict = { code: "POSITION_CONFLICT", retryable: true } as const;

/** The batch of one event that brings its channel to this number. */
function batchOf(service: string, number: number): Batch {
  return {
    events: [eventOf(entity("urn:f:1", { a: String(number) }), service)],
    position: at(`${service}c:${number}`),
  };
}

async function values(place: Place, service: string): Promise<readonly unknown[]> {
  return (await place.rows(service, "urn_f_1")).map(({ a }) => a);
}

const own = (positions: readonly string[], service: string) =>
  positions.filter((one) => one.startsWith(`${service}c:`));

await onEveryDatabase("two agents with one channel", [
  {
    name: "the later of two agents that began at one position stores nothing, names the other one, and continues when that has gone",
    service: "fence",
    run: async (place, service) => {
      const { sink: before } = await place.sink({}, undefined, { run: host("before") });
      await before.persist(batchOf(service, 1), never);
      const { sink: one } = await place.sink({}, undefined, { run: host("one") });
      const { sink: two } = await place.sink({}, undefined, { run: host("two") });
      assert.deepEqual(own(await one.positions.stored(never), service), [`${service}c:1`]);
      assert.deepEqual(own(await two.positions.stored(never), service), [`${service}c:1`]);

      await one.persist(batchOf(service, 2), never);
      let told = "";
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await assert.rejects(two.persist(batchOf(service, 3), never), (error: Error) => {
          told = error.message;
          return Reflect.get(error, "code") === conflict.code && Reflect.get(error, "retryable") === true;
        });
      }
      await assert.rejects(two.positions.alreadyStored(batchOf(service, 3), never), conflict);
      await one.persist(batchOf(service, 4), never);
      assert.deepEqual(await values(place, service), ["1", "2", "4"]);

      assert.match(
        told,
        /sink "sink".*host "one" with pid 17, started 2026-01-01T00:00:00.000Z.*DELETE FROM.*restored to an earlier state/,
      );
      const [schema, table] = place.positions(service);
      await place.alter(schema, table, String(/DELETE FROM .*? AND .*? = '[^']*'/.exec(told)?.[0]));
      await two.persist(batchOf(service, 3), never);
      await assert.rejects(one.persist(batchOf(service, 5), never), conflict);
      assert.deepEqual(await values(place, service), ["1", "2", "4", "3"]);
    },
  },
  {
    name: "an agent that read at its start from a server which lacked the last moves of the run before goes on from these",
    service: "lagged",
    run: async (place, service) => {
      const [schema, table] = place.positions(service);
      const set = async (column: string, value: string) =>
        await place.alter(schema, table, `UPDATE @ SET ${column} = '${value}' WHERE deneb_channel = '${service}c'`);
      let minute = 0;
      const clock = () => new Date(minute * 60_000);
      const { sink: before } = await place.sink({}, clock, { run: host("before") });
      for (minute = 1; minute <= 2; minute += 1) await before.persist(batchOf(service, minute), never);
      await set("deneb_position", `${service}c:1`);
      await set("deneb_moved", new Date(60_000).toISOString());
      const { sink: next } = await place.sink({}, clock, { run: host("next") });
      assert.deepEqual(own(await next.positions.stored(never), service), [`${service}c:1`]);
      await set("deneb_position", `${service}c:2`);
      await set("deneb_moved", new Date(120_000).toISOString());

      await next.persist(batchOf(service, 2), never);
      await next.persist(batchOf(service, 3), never);

      assert.deepEqual(await values(place, service), ["1", "2", "3"]);
      minute += 1;
      await assert.rejects(before.persist(batchOf(service, 4), never), conflict);
    },
  },
  {
    name: "agents that write to different services meet at the one row of a server",
    service: "apart",
    run: async (place, service) => {
      // Each SQLite file commits by itself.
      if (place.positions(service)[0] === service) return;
      const { sink: one } = await place.sink({}, undefined, { run: host("one") });
      await one.persist(batchOf(service, 1), never);
      const { sink: two } = await place.sink({}, undefined, { run: host("two") });
      await two.positions.stored(never);
      const elsewhere = (number: number) => ({
        ...batchOf(service, number),
        events: [eventOf(entity("urn:f:1", { a: String(number) }), `${service}2`)],
      });

      await one.persist(elsewhere(2), never);

      await assert.rejects(two.persist(batchOf(service, 3), never), conflict);
      assert.deepEqual([await values(place, service), await values(place, `${service}2`)], [["1"], ["2"]]);
    },
  },
  {
    name: "of two agents that find nothing the second one stores nothing",
    service: "first",
    run: async (place, service) => {
      const { sink: one } = await place.sink({}, undefined, { run: host("one") });
      const { sink: two } = await place.sink({}, undefined, { run: host("two") });
      await one.persist(batchOf(`${service}x`, 1), never);
      await two.persist(batchOf(`${service}y`, 1), never);
      for (const sink of [one, two]) await sink.positions.alreadyStored(batchOf(service, 9), never);

      const outcomes = await Promise.allSettled([
        one.persist(batchOf(service, 1), never),
        two.persist(batchOf(service, 2), never),
      ]);

      assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
      assert.equal((await values(place, service)).length, 1);
    },
  },
  {
    name: "a sink takes over what another sink of its process wrote last",
    service: "reload",
    run: async (place, service) => {
      const { sink: one } = await place.sink();
      await one.persist(batchOf(service, 1), never);
      const { sink: two } = await place.sink();
      await two.positions.stored(never);

      await one.persist(batchOf(service, 2), never);
      await two.persist(batchOf(service, 3), never);
      await one.persist(batchOf(service, 4), never);

      assert.deepEqual(await values(place, service), ["1", "2", "3", "4"]);
    },
  },
  {
    name: "a sink that replaces one whose response was lost skips in a larger batch what that one committed",
    service: "larger",
    run: async (place, service) => {
      const events = ["1", "2"].map((a) => eventOf(entity("urn:f:1", { a }), service));
      const batch = (count: number) => ({
        events: events.slice(0, count),
        position: at(`${service}c:${count}`, events),
      });
      const { sink: one } = await place.sink();
      await one.persist(batch(1), never);

      const { sink: two } = await place.sink();
      await two.persist(batch(2), never);

      assert.deepEqual(await values(place, service), ["1", "2"]);
    },
  },
  {
    name: "a table of an earlier version gets the new columns, and its position holds",
    service: "older",
    run: async (place, service) => {
      const { sink: older } = await place.sink();
      await older.persist(batchOf(service, 1), never);
      const [schema, table] = place.positions(service);
      if (place.prefix === "") {
        for (const column of ["deneb_owner", "deneb_moved", "deneb_events"])
          await place.alter(schema, table, `ALTER TABLE @ DROP COLUMN ${column}`);
      }
      const cleared = place.prefix === "" ? "deneb_sink = deneb_sink" : "deneb_owner = NULL, deneb_events = NULL";
      await place.alter(schema, table, `UPDATE @ SET ${cleared} WHERE deneb_channel = '${service}c'`);

      const { sink } = await place.sink({}, undefined, { run: host("newer") });
      assert.deepEqual(own(await sink.positions.stored(never), service), [`${service}c:1`]);
      await sink.persist(batchOf(service, 2), never);

      const where = `WHERE deneb_channel = '${service}c'`;
      const rows = await place.select(
        schema,
        table,
        `SELECT deneb_position, deneb_owner, deneb_events FROM @ ${where}`,
      );
      assert.deepEqual(
        rows.map((row) => Object.values(row)),
        [[`${service}c:2`, host("newer"), "1"]],
      );
    },
  },
  {
    name: "an earlier version that writes at the same time is another writer",
    service: "downgrade",
    run: async (place, service) => {
      const { sink } = await place.sink();
      await sink.persist(batchOf(service, 1), never);
      const [schema, table] = place.positions(service);
      const channel = `${service}c`;
      await place.alter(schema, table, `DELETE FROM @ WHERE deneb_channel = '${channel}'`);
      const columns = "deneb_sink, deneb_channel, deneb_position";
      await place.alter(schema, table, `INSERT INTO @ (${columns}) VALUES ('sink', '${channel}', '${channel}:2')`);

      await assert.rejects(sink.persist(batchOf(service, 3), never), /moved by an earlier version of Deneb/);
    },
  },
  {
    name: "other rows are ignored and logged once, however long they are",
    service: "strange",
    run: async (place, service) => {
      const { sink: first } = await place.sink();
      await first.persist(batchOf(service, 1), never);
      const [schema, table] = place.positions(service);
      // The table of the MySQL server is that of others too.
      const odd =
        place.prefix === ""
          ? [
              ["part:", `part:${service}c:9`],
              ["database:x", "x"],
            ]
          : [];
      const strange = [[`${service}1`, `${service}c:9`], [`${service}2`, "9"], ...odd];
      if (place.prefix === "") strange.push([`${service}3`, `${service}3:${"9".repeat(100_000)}`]);
      const columns = "deneb_sink, deneb_channel, deneb_position";
      for (const [channel, position] of strange) {
        await place.alter(schema, table, `INSERT INTO @ (${columns}) VALUES ('sink', '${channel}', '${position}')`);
      }

      const { sink, lines } = await place.sink();
      const positions = [await sink.positions.stored(never), await sink.positions.stored(never)];

      for (const told of positions) assert.deepEqual(own(told, service), [`${service}c:1`]);
      const warnings = lines.filter(({ level }) => level === "warn");
      assert.equal(warnings.length, 1);
      assert.match(String(warnings[0]?.message), /rows of the table of positions that no agent wrote are ignored/);
    },
  },
  {
    name: "the events that have rows are counted with the position",
    service: "counted",
    run: async (place, service) => {
      const { sink } = await place.sink();
      const events = ["1", "2", "3"].map((id) => eventOf(entity(`urn:f:${id}`, { a: "x" }), service));
      await sink.persist({ events, position: at(`${service}c:3`) }, never);
      await sink.persist(batchOf(service, 4), never);

      const [schema, table] = place.positions(service);
      const where = `WHERE deneb_channel = '${service}c'`;
      const [row] = await place.select(schema, table, `SELECT deneb_events FROM @ ${where}`);
      assert.equal(row?.["deneb_events"], "4");
    },
  },
  {
    name: "a dead letter whose mark was lost is not stored a second time, with or without positions",
    service: "letters",
    run: async (place, service) => {
      const id = `letter-${service}`;
      const letter = (a: string, more = "") => {
        const event = eventOf(entity("urn:f:1", { a }), service);
        return { ...event, headers: { ...event.headers, [letterHeader]: `${id}${more}` } };
      };
      const { sink: one } = await place.sink({ exactly_once: false });
      await one.persist({ events: [letter("1"), eventOf(entity("urn:f:1", { a: "2" }), service)] }, never);

      const { sink: two } = await place.sink({ exactly_once: false });
      assert.equal((await two.positions.alreadyStored({ events: [letter("1")] }, never)).length, 1);
      await two.persist({ events: [letter("1"), letter("3", "3")] }, never);
      const { sink: three } = await place.sink();
      await three.persist({ events: [letter("1"), letter("3", "3")], position: at(`${service}c:1`) }, never);

      assert.deepEqual(await values(place, service), ["1", "2", "3"]);
    },
  },
  {
    name: "a dead letter that is refused with its batch is not recorded as stored",
    service: "unkept",
    run: async (place, service) => {
      const event = eventOf(entity("urn:f:1", { a: "1" }), service);
      const letter = { ...event, headers: { ...event.headers, [letterHeader]: `letter-${service}` } };
      const { sink } = await place.sink();
      await assert.rejects(sink.persist({ events: [letter, eventOf(entity("urn:f:1", { a: "\0" }), service)] }, never));

      await sink.persist({ events: [letter] }, never);

      assert.deepEqual(await values(place, service), ["1"]);
    },
  },
  {
    name: "dead letters that were stored 90 days ago are deleted from the record",
    service: "cleaned",
    run: async (place, service) => {
      const letter = (id: string) => {
        const event = eventOf(entity("urn:f:1", { a: id }), service);
        return { ...event, headers: { ...event.headers, [letterHeader]: `${service}-${id}` } };
      };
      const day = 24 * 60 * 60 * 1000;
      const { sink: old } = await place.sink({}, () => new Date(5 * day));
      await old.persist({ events: [letter("old")] }, never);
      const { sink: recent } = await place.sink({}, () => new Date(6 * day));
      await recent.persist({ events: [letter("recent")] }, never);
      const { sink: now } = await place.sink({}, () => new Date(95.5 * day));

      await now.persist({ events: [letter("new")] }, never);

      const [schema, table] = place.positions(service);
      const letters = table.replace("positions", "letters");
      const rows = await place.select(schema, letters, "SELECT deneb_letter FROM @ ORDER BY deneb_letter");
      const found = rows.map((row) => row["deneb_letter"]).filter((id) => id?.startsWith(`${service}-`));
      assert.deepEqual(found, [`${service}-new`, `${service}-recent`]);
    },
  },
]);
