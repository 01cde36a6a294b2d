import assert from "node:assert/strict";
import type { Sink } from "../../core/sdk/index.js";
import { fixed, onEveryDatabase } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";
import { at } from "../support/position.js";

await onEveryDatabase("positions of a durable channel", [
  {
    name: "a position is kept with its rows, the latest of each channel replaces the one before",
    service: "kept",
    run: async (place, service) => {
      const { sink } = await place.sink();
      const persist = async (id: string, position: string) =>
        await sink.persist({ events: [eventOf(entity(id, { a: "1" }), service)], position: at(position) }, never);

      // Servers that others use have positions of others.
      const own = async (of: Sink) =>
        ((await of.positions?.stored(never)) ?? []).filter((one) => one.startsWith(service));

      assert.deepEqual(await own(sink), []);
      await persist("urn:k:1", `${service}1:10`);
      await persist("urn:k:1", `${service}1:20,25-30`);
      await persist("urn:k:2", `${service}2:7`);

      const { sink: another } = await place.sink();
      assert.deepEqual([...(await own(another))].sort(), [`${service}1:20,25-30`, `${service}2:7`]);
    },
  },
  {
    name: "a position is not kept when its rows are refused",
    service: "refused",
    run: async (place, service) => {
      const { sink } = await place.sink();
      await sink.persist(
        { events: [eventOf(entity("urn:r:1", { a: "1" }), service)], position: at(`${service}:1`) },
        never,
      );

      await assert.rejects(
        sink.persist(
          { events: [eventOf(entity("urn:r:1", { a: "\0" }), service)], position: at(`${service}:2`) },
          never,
        ),
      );

      assert.ok((await sink.positions.stored(never)).includes(`${service}:1`));
      assert.deepEqual(await place.rows(service, "urn_r_1"), [{ ...fixed("urn:r:1"), a: "1" }]);
    },
  },
  {
    name: "a batch for several services keeps its position once, with the last rows",
    service: "several",
    run: async (place, service) => {
      const { sink } = await place.sink();
      const events = ["one", "two"].map((part) => eventOf(entity("urn:s:1", { a: part }), `${service}_${part}`));

      await sink.persist({ events, position: at(`${service}:2`) }, never);

      assert.equal((await sink.positions.stored(never)).filter((position) => position === `${service}:2`).length, 1);
    },
  },
  {
    name: "a write that was committed although its response was lost is not repeated",
    service: "doubt",
    run: async (place, service) => {
      const { sink } = await place.sink();
      const batch = { events: [eventOf(entity("urn:d:1", { a: "1" }), service)], position: at(`${service}:1`) };
      await sink.persist(batch, never);
      // Whatever fails next leaves the sink in doubt about what it has stored.
      await assert.rejects(sink.persist({ events: [eventOf(entity("urn:d:1", { a: "\0" }), service)] }, never));

      await sink.persist(batch, never);

      assert.equal((await place.rows(service, "urn_d_1")).length, 1);
    },
  },
  {
    name: "a sink that replaces one that hung reads positions before its first write",
    service: "hung",
    run: async (place, service) => {
      const batch = { events: [eventOf(entity("urn:h:1", { a: "1" }), service)], position: at(`${service}:1`) };
      const { sink: hung } = await place.sink();
      await hung.persist(batch, never);
      const { sink: next } = await place.sink();

      await next.persist(batch, never);

      assert.equal((await place.rows(service, "urn_h_1")).length, 1);
    },
  },
  {
    name: "without a position, or with exactly_once = false, nothing is recorded",
    service: "none",
    run: async (place, service) => {
      const { sink } = await place.sink({ exactly_once: false });

      await sink.persist(
        { events: [eventOf(entity("urn:n:1", { a: "1" }), service)], position: at(`${service}:1`) },
        never,
      );

      const { sink: another } = await place.sink();
      assert.ok(!(await another.positions.stored(never)).includes(`${service}:1`));
    },
  },
]);
