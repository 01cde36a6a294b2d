import assert from "node:assert/strict";
import { AgentError, reasonOf, retryableOf } from "../../core/sdk/index.js";
import { type Case, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { attribute, entity, eventOf, type LoggingSink } from "../plugins/rdb-sink/sinks.js";

const wide = (id: string, from: number, to: number) => ({
  ...entity(id, {}),
  attributes: Array.from({ length: to - from }, (_, index) => attribute(`a${from + index}`, "1")),
});

async function refusal(sink: LoggingSink, ...events: Parameters<typeof persist>[1][]): Promise<unknown> {
  try {
    await persist(sink, ...events);
  } catch (error) {
    return error;
  }
  return undefined;
}

const cases: readonly Case[] = [
  {
    name: "an entity with more attributes than a table has columns is refused, its neighbour is stored",
    service: "wide",
    run: async (place, service) => {
      const sink = await place.sink();
      const event = eventOf(wide("wide", 0, 2100), service);
      const neighbour = eventOf(entity("neighbour", { a: "1" }), service);

      const together = await refusal(sink, event, neighbour);
      const alone = await refusal(sink, event);
      await persist(sink, neighbour);

      assert.equal(retryableOf(together), false);
      assert.equal(retryableOf(alone), false);
      assert.match(reasonOf(alone), /columns/);
      if (reasonOf(alone).startsWith("storing"))
        assert.match(
          reasonOf(alone),
          /^storing into table "wide" of schema ".*": it would have 2103 columns.* attr_persistence = row/,
        );
      assert.equal((await place.rows(service, "neighbour")).length, 1);
    },
  },
  {
    name: "a table that has grown to the limit keeps taking rows of the columns that it has",
    service: "grown",
    run: async (place, service) => {
      const sink = await place.sink();
      await persist(sink, eventOf(wide("e", 0, 180), service));

      const more = await refusal(sink, eventOf(wide("e", 180, 2300), service));
      await persist(sink, eventOf(wide("e", 0, 180), service));

      assert.equal(retryableOf(more), false);
      assert.equal((await place.rows(service, "e")).length, 2);
    },
  },
  {
    name: "the events of a batch whose columns have no room are named, and the others are stored without them",
    service: "named",
    run: async (place, service) => {
      const sink = await place.sink();
      const events = [
        eventOf(entity("e", { a1: "1" }), service),
        eventOf(wide("e", 0, 2100), service),
        eventOf(entity("e", { b: "1" }), service),
        eventOf(entity("other", { a1: "1" }), service),
      ];

      const error = await refusal(sink, ...events);
      // A dialect that leaves the number of columns to its database cannot name any.
      if (!reasonOf(error).startsWith("storing into table")) return assert.match(reasonOf(error), /54011/);
      const named = error instanceof AgentError && error.events instanceof Map ? error.events : new Map();
      const left = events.filter((event) => retryableOf(named.get(event)) !== false);
      await persist(sink, ...left);

      assert.equal(named.size, events.length);
      assert.deepEqual(
        left,
        events.filter((_, at) => at !== 1),
      );
      assert.equal((await place.rows(service, "e")).length, 2);
    },
  },
  {
    name: "the row layout has no such limit",
    service: "rowwide",
    run: async (place, service) => {
      const sink = await place.sink({ attr_persistence: "row" });

      await persist(sink, eventOf(wide("e", 0, 2100), service));

      assert.equal((await place.rows(service, "e")).length, 2100);
    },
  },
  {
    name: "an attribute whose kind changes over time is stored in all its kinds, typed or as text",
    service: "kinds",
    run: async (place, service) => {
      const values = ["text", "21.5", "true", "2024-01-01T00:00:00Z"];
      const text = await place.sink();
      for (const value of values) await persist(text, eventOf(entity("plain", { a: value }), service));

      const rows = await place.rows(service, "plain");

      assert.deepEqual(rows.map(({ a }) => a).sort(), [...values].sort());
    },
  },
];

await onEveryDatabase("wide and odd entities", cases);
