import assert from "node:assert/strict";
import type { Place } from "../plugins/rdb-sink/databases.js";
import { onEveryDatabase } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, type LoggingSink, never } from "../plugins/rdb-sink/sinks.js";
import { at } from "../support/position.js";
import { sharedBatch } from "../support/shared-position.js";

const MINUTE = 60_000;

/** A sink whose clock is a minute later at each look. */
async function clocked(place: Place, run?: string, start = 0): Promise<LoggingSink> {
  let minutes = start;
  return await place.sink({}, () => new Date(++minutes * MINUTE), run === undefined ? {} : { run });
}

const host = (name: string) => `${name},17,2026-01-01T00:00:00.000Z,0123456789abcdef`;

/** The event of this number, from 1 on, of a channel that agents share. */
async function persistShared({ sink }: LoggingSink, service: string, number: number): Promise<void> {
  const events = Array.from({ length: number }, (_, index) =>
    eventOf(entity("urn:b:1", { a: String(index) }), service),
  );
  await sink.persist(sharedBatch(`${service}c`, events, number - 1, number), never);
}

async function persist({ sink }: LoggingSink, service: string, number: number): Promise<void> {
  const events = [eventOf(entity("urn:b:1", { a: String(number) }), service)];
  await sink.persist({ events, position: at(`${service}c:${number}`) }, never);
}

const positionOf = async (place: Place, service: string) => {
  const [schema, table] = place.positions(service);
  const [row] = await place.select(
    schema,
    table,
    `SELECT deneb_position, deneb_moved, deneb_owner FROM @ WHERE deneb_channel = '${service}c'`,
  );
  const of = (column: string) => row?.[column] ?? "";
  return { position: of("deneb_position"), moved: of("deneb_moved"), owner: of("deneb_owner") };
};

/** As a server that lacks what came after it. */
const setBack = async (place: Place, service: string, then: Awaited<ReturnType<typeof positionOf>>) => {
  const [schema, table] = place.positions(service);
  const set = `UPDATE @ SET deneb_position = '${then.position}', deneb_moved = '${then.moved}', deneb_owner = '${then.owner}'`;
  await place.alter(schema, table, `${set} WHERE deneb_channel = '${service}c'`);
};

const told = ({ lines }: LoggingSink) => lines.filter(({ message }) => /^the store/.test(message));

await onEveryDatabase("a store that goes back", [
  {
    name: "a store without what was stored last, as after a restore, is an error in the log with the times, and is written on",
    service: "back",
    run: async (place, service) => {
      const made = await clocked(place);
      await persist(made, service, 1);
      const then = await positionOf(place, service);
      await persist(made, service, 2);
      const last = await positionOf(place, service);
      await setBack(place, service, then);

      await persist(made, service, 3);
      await persist(made, service, 4);

      assert.deepEqual(
        told(made).map(({ message, fields }) => [message, Reflect.get(fields, "since"), Reflect.get(fields, "until")]),
        [["the store has gone back: it lacks what was stored between these times", then.moved, last.moved]],
      );
      assert.equal((await positionOf(place, service)).position, `${service}c:4`);
    },
  },
  {
    name: "a server that shows the past for a moment, as one of a cluster may, is none that went back",
    service: "late",
    run: async (place, service) => {
      const made = await clocked(place);
      await persist(made, service, 1);
      const then = await positionOf(place, service);
      await persist(made, service, 2);
      const last = await positionOf(place, service);
      const events = [eventOf(entity("urn:b:1", { a: "3" }), service)];
      await setBack(place, service, then);
      await made.sink.positions.alreadyStored({ events, position: at(`${service}c:3`) }, never);
      await setBack(place, service, last);

      await persist(made, service, 3);

      assert.deepEqual(told(made), []);
    },
  },
  {
    name: "a store whose position is gone is a warning in the log, and is written on",
    service: "gone",
    run: async (place, service) => {
      const made = await clocked(place);
      await persist(made, service, 1);
      const [schema, table] = place.positions(service);
      await place.alter(schema, table, `DELETE FROM @ WHERE deneb_channel = '${service}c'`);

      await persist(made, service, 2);

      assert.deepEqual(
        told(made).map(({ message }) => message),
        ["the stored position is gone; the store may lack what was stored before"],
      );
      assert.equal((await positionOf(place, service)).position, `${service}c:2`);
    },
  },
  {
    name: "a position that another sink of the same agent moved on is none that went back",
    service: "handed",
    run: async (place, service) => {
      const before = await clocked(place);
      await persist(before, service, 1);
      const next = await place.sink({}, () => new Date(60 * MINUTE));
      await persist(next, service, 2);

      await persist(before, service, 3);

      assert.deepEqual([told(before), told(next)], [[], []]);
    },
  },
  {
    name: "behind a channel that agents share a store that goes back to what this agent wrote earlier is an error in the log, once",
    service: "sharedback",
    run: async (place, service) => {
      const made = await clocked(place, host("one"));
      await persistShared(made, service, 1);
      const then = await positionOf(place, service);
      await persistShared(made, service, 2);
      const last = await positionOf(place, service);
      await setBack(place, service, then);

      await persistShared(made, service, 3);
      await persistShared(made, service, 4);

      assert.deepEqual(
        told(made).map(({ message, fields }) => [message, Reflect.get(fields, "since"), Reflect.get(fields, "until")]),
        [["the store has gone back: it lacks what was stored between these times", then.moved, last.moved]],
      );
      assert.equal((await positionOf(place, service)).position, `${service}c:4`);
    },
  },
  {
    name: "so is one that goes back to what another agent wrote before",
    service: "sharedbefore",
    run: async (place, service) => {
      await persistShared(await clocked(place, host("two")), service, 1);
      const then = await positionOf(place, service);
      const made = await clocked(place, host("one"), 10);
      await persistShared(made, service, 2);
      await persistShared(made, service, 3);
      await setBack(place, service, then);

      await persistShared(made, service, 4);

      assert.deepEqual(
        told(made).map(({ message, fields }) => [message, Reflect.get(fields, "since")]),
        [["the store has gone back: it lacks what was stored between these times", then.moved]],
      );
    },
  },
  {
    name: "a shared position that another agent, whose clock is slow, moved on is none that went back, and one that is gone is a warning",
    service: "sharedturns",
    run: async (place, service) => {
      const made = await clocked(place, host("one"), 60);
      const other = await clocked(place, host("two"));
      for (const [sink, number] of [
        [other, 1],
        [made, 2],
        [other, 3],
        [made, 4],
        [other, 5],
        [made, 6],
      ] as const)
        await persistShared(sink, service, number);
      assert.deepEqual([told(made), told(other)], [[], []]);
      const [schema, table] = place.positions(service);
      await place.alter(schema, table, `DELETE FROM @ WHERE deneb_channel = '${service}c'`);

      await persistShared(made, service, 7);

      assert.deepEqual(
        told(made).map(({ message }) => message),
        ["the stored position is gone; the store may lack what was stored before"],
      );
    },
  },
]);
