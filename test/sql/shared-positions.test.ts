import assert from "node:assert/strict";
import { AgentError, type Event } from "../../core/sdk/index.js";
import type { RdbConfig } from "../../plugins/rdb-sink/config.js";
import type { Place } from "../plugins/rdb-sink/databases.js";
import { type Case, onEveryDatabase } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";
import { sharedBatch } from "../support/shared-position.js";

const MOST_ATTEMPTS = 5;

const host = (name: string) => `${name},17,2026-01-01T00:00:00.000Z,0123456789abcdef`;

/** Events of one entity, with their numbers as values. */
const numbered = (service: string, count: number): readonly Event[] =>
  Array.from({ length: count }, (_, number) => eventOf(entity("urn:f:1", { a: String(number) }), service));

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => String(from + index));

async function values(place: Place, service: string): Promise<readonly unknown[]> {
  return (await place.rows(service, "urn_f_1")).map(({ a }) => a);
}

/** As an agent does it: SQLite says that its file is locked when sinks switch a new one to WAL at once. */
async function retried<Value>(write: () => Promise<Value>): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof AgentError) || !error.retryable || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}

/** Sinks of two agents, and the batches of the channel that they share. */
async function shared(place: Place, service: string, config: Partial<RdbConfig> = {}) {
  const channel = `log-1/${service}/0`;
  const one = await place.sink(config, undefined, { run: host("one") });
  const two = await place.sink(config, undefined, { run: host("two") });
  const events = numbered(service, 40);
  // Each agent decodes the events for itself.
  const batchOf = (from: number, to: number) => sharedBatch(channel, structuredClone(events), from, to);
  return { one, two, channel, events, batchOf };
}

async function positionsOf(place: Place, service: string, channel: string) {
  const [schema, table] = place.positions(service);
  const columns = "deneb_channel, deneb_position, deneb_owner, deneb_events";
  const rows = await place.select(schema, table, `SELECT ${columns} FROM @ WHERE deneb_channel LIKE '%${channel}%'`);
  const whole = rows.find(({ deneb_channel: name }) => name === channel);
  const events = rows.reduce((sum, { deneb_events: own }) => sum + Number(own), 0);
  return { position: whole?.["deneb_position"], owner: whole?.["deneb_owner"]?.split(",")[0], events };
}

const cases: readonly Case[] = [
  {
    name: "two agents in turn adopt the position that the other one moved",
    service: "turns",
    run: async (place, service) => {
      const { one, two, channel, batchOf } = await shared(place, service);

      await one.sink.persist(batchOf(0, 5), never);
      await two.sink.persist(batchOf(5, 10), never);
      await one.sink.persist(batchOf(10, 15), never);
      await two.sink.persist(batchOf(15, 20), never);

      assert.deepEqual(await values(place, service), numbers(0, 20));
      const at = await positionsOf(place, service, channel);
      assert.deepEqual(at, { position: `${channel}:20`, owner: "two", events: 20 });
    },
  },
  {
    name: "an event of a batch that cannot have rows counts as not stored, and what is stored of the others is found",
    service: "norows",
    run: async (place, service) => {
      const { one, two, channel, events } = await shared(place, service, { allowed_services: [service] });
      const mixed = [
        ...events.slice(0, 2),
        eventOf(entity("urn:f:2", { a: "x" }), "not_allowed"),
        ...events.slice(2, 4),
      ];
      const batchOf = (from: number, to: number) => sharedBatch(channel, mixed, from, to);

      await one.sink.persist(batchOf(0, 2), never);
      const stored = await two.sink.positions.alreadyStored(batchOf(0, 5), never);

      assert.deepEqual(stored, mixed.slice(0, 2));
    },
  },
  {
    name: "a batch of which older events are held back moves no position of the channel as a whole",
    service: "heldback",
    run: async (place, service) => {
      const { one, two, channel, batchOf } = await shared(place, service);
      const batch = batchOf(5, 10);
      const { position } = batch;
      assert.ok(position);

      await one.sink.persist({ ...batch, position: { ...position, partial: true } }, never);
      const again = batchOf(5, 10);
      const stored = await two.sink.positions.alreadyStored(again, never);
      const at = await positionsOf(place, service, channel);
      await two.sink.persist(batchOf(10, 15), never);

      assert.deepEqual(stored, again.events);
      assert.deepEqual([at.position, at.events], [undefined, 5]);
      assert.deepEqual(await values(place, service), numbers(5, 15));
      assert.deepEqual((await positionsOf(place, service, channel)).position, `${channel}:15`);
    },
  },
  {
    name: "a zombie that goes on with an old batch stores nothing twice, moves nothing back and says who stored it",
    service: "zombie",
    run: async (place, service) => {
      const { one, two, channel, batchOf } = await shared(place, service);
      await one.sink.persist(batchOf(0, 5), never);
      const old = batchOf(5, 10);
      await two.sink.persist(batchOf(5, 20), never);

      const receipt = await one.sink.persist(old, never);

      assert.deepEqual(receipt.elsewhere, old.events);
      assert.deepEqual(await values(place, service), numbers(0, 20));
      const at = await positionsOf(place, service, channel);
      assert.deepEqual(at, { position: `${channel}:20`, owner: "two", events: 20 });
      const lines = one.lines.filter(({ message }) => message.includes("another agent"));
      assert.equal(lines.length, 1);
      assert.match(JSON.stringify(lines), new RegExp(`"events":5,"channel":"${channel}","movedBy":.*host .*two`));
    },
  },
  {
    name: "of a batch of which another agent stored the beginning the rest is written",
    service: "rest",
    run: async (place, service) => {
      const { one, two, channel, batchOf } = await shared(place, service);
      await one.sink.persist(batchOf(0, 5), never);
      const batch = batchOf(5, 12);
      await two.sink.persist(batchOf(5, 8), never);

      const receipt = await one.sink.persist(batch, never);

      assert.deepEqual(receipt.elsewhere, batch.events.slice(0, 3));
      assert.deepEqual(await values(place, service), numbers(0, 12));
      const at = await positionsOf(place, service, channel);
      assert.deepEqual(at, { position: `${channel}:12`, owner: "one", events: 12 });
    },
  },
  {
    name: "an agent that gets again what it has stored, not said to be redelivered, writes nothing",
    service: "again",
    run: async (place, service) => {
      const { one, batchOf } = await shared(place, service);
      await one.sink.persist(batchOf(0, 5), never);
      await one.sink.persist(batchOf(5, 10), never);

      await one.sink.persist(batchOf(0, 5), never);
      await one.sink.persist(batchOf(3, 12), never);

      assert.deepEqual(await values(place, service), numbers(0, 12));
    },
  },
  {
    name: "of two agents that write the first row at once one wins, and the other one stores the rest",
    service: "firsts",
    run: async (place, service) => {
      const { one, two, channel, batchOf } = await shared(place, service);

      const receipts = await Promise.all([
        one.sink.persist(batchOf(0, 5), never),
        two.sink.persist(batchOf(0, 5), never),
      ]);

      assert.deepEqual(receipts.map(({ elsewhere = [] }) => elsewhere.length).sort(), [0, 5]);
      assert.deepEqual(await values(place, service), numbers(0, 5));
      assert.equal((await positionsOf(place, service, channel)).events, 5);
    },
  },
  {
    name: "three agents that race through the same events store each of them once, in order",
    service: "race",
    run: async (place, service) => {
      const { one, two, channel, batchOf } = await shared(place, service);
      const three = await place.sink({}, undefined, { run: host("three") });
      const walk = async ({ sink }: typeof one, step: number) => {
        let stored = 0;
        for (let from = 0; from < 40; from += step) {
          const batch = batchOf(from, Math.min(40, from + step));
          const { elsewhere = [] } = await retried(() => sink.persist(batch, never));
          stored += batch.events.length - elsewhere.length;
        }
        return stored;
      };

      const stored = await Promise.all([walk(one, 3), walk(two, 5), walk(three, 1)]);

      assert.deepEqual(await values(place, service), numbers(0, 40));
      assert.equal(stored[0] + stored[1] + stored[2], 40);
      const at = await positionsOf(place, service, channel);
      assert.deepEqual([at.position, at.events], [`${channel}:40`, 40]);
    },
  },
  {
    name: "at a takeover the sink tells what is stored, and goes on from there",
    service: "takeover",
    run: async (place, service) => {
      const { one, two, batchOf } = await shared(place, service);
      await two.sink.persist(batchOf(0, 2), never);
      await one.sink.persist(batchOf(2, 8), never);
      const batch = batchOf(5, 12);

      const stored = await two.sink.positions.alreadyStored(batch, never);
      const rest = { ...batch, events: batch.events.slice(stored.length) };
      await two.sink.persist(rest, never);

      assert.deepEqual(stored, batch.events.slice(0, 3));
      assert.deepEqual(await values(place, service), numbers(0, 12));
    },
  },
  {
    name: "agents that divide events for several services into batches of their own store each once",
    service: "units",
    run: async (place, service) => {
      const { one, two, channel } = await shared(place, service);
      const names = [service, `${service}2`, `${service}3`];
      const all = Array.from({ length: 24 }, (_, number) =>
        eventOf(entity("urn:f:1", { a: String(number) }), names[(number * 7) % 3] ?? service),
      );
      const walk = async ({ sink }: typeof one, step: number) => {
        const own = structuredClone(all);
        for (let from = 0; from < all.length; from += step) {
          const batch = sharedBatch(channel, own, from, Math.min(all.length, from + step));
          await retried(() => sink.persist(batch, never));
        }
      };

      await Promise.all([walk(one, 7), walk(two, 2)]);
      await walk(two, 24);

      const found = [];
      for (const name of names) found.push(...(await values(place, name)).map(Number));
      assert.deepEqual(
        found.sort((a, b) => a - b),
        all.map((_, number) => number),
      );
      const counted = new Map<string, number>();
      for (const name of names) {
        const [schema, table] = place.positions(name);
        counted.set(`${schema}.${table}`, (await positionsOf(place, name, channel)).events);
      }
      assert.equal(
        [...counted.values()].reduce((sum, events) => sum + events),
        24,
      );
    },
  },
  {
    name: "a position that covers the last event of a batch and not all before it is refused",
    service: "gaps",
    run: async (place, service) => {
      const { one, two, channel, batchOf } = await shared(place, service);
      await two.sink.persist(batchOf(0, 5), never);
      const { events } = batchOf(3, 8);
      const position = { text: `${channel}:8`, shared: true, coveredBy: () => events.slice(2) };

      await assert.rejects(one.sink.persist({ events, position }, never), {
        code: "POSITION_UNORDERED",
        retryable: true,
      });

      assert.deepEqual(await values(place, service), numbers(0, 5));
    },
  },
];

await onEveryDatabase("positions that several agents move", cases);
