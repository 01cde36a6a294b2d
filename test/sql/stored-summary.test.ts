import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cell } from "../../core/sql/contract/statement.js";
import { databases } from "../../plugins/rdb-sink/databases.js";
import { onEveryDatabase } from "../plugins/rdb-sink/on-every-database.js";
import { configOf, entity, eventOf, never, sinkOf } from "../plugins/rdb-sink/sinks.js";
import { at } from "../support/position.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";

test("where counts are read from a server that lags behind, it is named, and its counts are not compared", async (context) => {
  const config = { rdb_dialect: "sqlite", rdb_folder: await tempFolder(context) } as const;
  const { log } = recordingLog();
  const store = databases.sqlite.open(configOf(config), {
    name: "sink",
    log,
    dataDir: "",
    run: "run",
    now: () => new Date(0),
  });
  let earlier: readonly (readonly Cell[])[] | undefined;
  const read: typeof store.driver.read = async (statements, signal) => {
    const answer = await store.driver.read(statements, signal);
    if (statements.every(({ text }) => !text.includes("deneb_events"))) return answer;
    earlier ??= answer;
    return earlier;
  };
  const driver: typeof store.driver = {
    probe: (signal) => store.driver.probe(signal),
    read,
    write: (statements, signal) => store.driver.write(statements, signal),
    commitUnits: (signal) => store.driver.commitUnits(signal),
    close: (signal) => store.driver.close(signal),
  };
  let second = 0;
  const { sink } = sinkOf(config, () => new Date(second * 1000), { ...store, driver });
  context.after(() => sink.stop(never));
  const persist = (n: number) => {
    second = n;
    return sink.persist({ events: [eventOf(entity("urn:f:1", { a: "1" }), "svc")], position: at(`c:${n}`) }, never);
  };
  await persist(1);
  const { channels } = await sink.positions.summary(never);

  await persist(2);

  assert.equal(channels?.[0]?.events, 1);
  await assert.rejects(sink.positions.summary(never), {
    code: "STORE_UNAVAILABLE",
    message:
      /a server that lags behind answers: the position is of 1970-01-01T00:00:02.*all reads of the agent to the primary/,
  });
});

await onEveryDatabase("what a store says it holds", [
  {
    name: "events are counted by channel over services and batches, each once, and tables have their rows",
    service: "summary",
    run: async (place, service) => {
      const { sink } = await place.sink();
      const eventFor = (name: string, a: string) => eventOf(entity("urn:f:1", { a, b: "1" }), name);
      const channel = `${service}c`;
      const first = [eventFor(service, "1"), eventFor(service, "2"), eventFor(`${service}2`, "1")];
      const before = await sink.positions.summary(never);
      await sink.persist({ events: first, position: at(`${channel}:3`) }, never);
      await sink.persist({ events: [eventFor(service, "3")], position: at(`${channel}:4`) }, never);
      await sink.persist({ events: [eventFor(service, "1")], position: at(`${channel}x:1`) }, never);

      const summary = await sink.positions.summary(never);

      const events = (name: string) => summary.channels?.find((one) => one.channel === name)?.events;
      assert.equal(
        before.channels?.find((one) => one.channel === channel),
        undefined,
      );
      assert.deepEqual([events(channel), events(`${channel}x`)], [4, 1]);
      const rows = (name: string) => summary.tables.find(({ table }) => table.endsWith(`${name}.urn_f_1`))?.rows;
      assert.deepEqual([rows(service), rows(`${service}2`)], [4, 1]);
    },
  },
  {
    name: "a sink without positions counts no events, tells no place, and has the rows of its tables",
    service: "uncounted",
    run: async (place, service) => {
      const { sink: counting } = await place.sink();
      const { sink } = await place.sink({ exactly_once: false }, undefined, { name: service });
      const event = eventOf(entity("urn:f:1", { a: "1" }), service);
      await sink.persist({ events: [event], position: at(`${service}c:1`) }, never);

      const { channels, tables } = await sink.positions.summary(never);

      assert.match(counting.positions.place ?? "", /^(?:postgresql|mysql|sqlite)/);
      assert.deepEqual([sink.positions.place, channels], [undefined, undefined]);
      assert.equal(tables.find(({ table }) => table.endsWith(`${service}.urn_f_1`))?.rows, 1);
    },
  },
  {
    name: "a table that somebody has dropped is left out, and the others have their rows",
    service: "dropped",
    run: async (place, service) => {
      const { sink } = await place.sink({}, undefined, { name: service });
      const services = [service, `${service}2`, `${service}3`];
      await sink.persist({ events: services.map((name) => eventOf(entity("urn:f:1", { a: "1" }), name)) }, never);

      await place.alter(service, "urn_f_1", "DROP TABLE @");
      await place.dropSchema(`${service}2`);
      const summary = await sink.positions.summary(never);

      const found = services.map((name) => summary.tables.find(({ table }) => table.endsWith(`${name}.urn_f_1`))?.rows);
      assert.deepEqual(found, [undefined, undefined, 1]);
    },
  },
]);
