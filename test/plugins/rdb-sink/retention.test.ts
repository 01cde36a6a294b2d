import assert from "node:assert/strict";
import { onEveryDatabase, persist } from "./on-every-database.js";
import { attribute, entity, eventOf } from "./sinks.js";
import { v2Attribute, v2Entity, v2Event } from "./v2-events.js";

const DAY = 86_400_000;
const v2At = (later: number, service: string, id = "car1") =>
  v2Event(v2Entity(id, v2Attribute("p", "Number", later)), service, { later });

await onEveryDatabase("retention", [
  {
    name: "capping keeps the newest rows, whatever the order of arrival",
    service: "capped",
    run: async (place, service) => {
      const sink = await place.sink({ "persistence_policy.max_records": 2 });

      await persist(sink, v2At(3, service), v2At(1, service), v2At(4, service), v2At(2, service));
      const first = await place.rows(service, "car1_t");
      await persist(sink, v2At(0, service), v2At(5, service));

      assert.deepEqual(first.map(({ p }) => p).sort(), ["3", "4"]);
      assert.deepEqual((await place.rows(service, "car1_t")).map(({ p }) => p).sort(), ["4", "5"]);
    },
  },
  {
    name: "rows of a certain age are deleted from tables of earlier runs, with times of both APIs and of a type",
    service: "expired",
    run: async (place, service) => {
      const writer = await place.sink();
      const typed = await place.sink({ attr_native_types: true });
      const old = eventOf(entity("urn:x", { a: "old" }), service);
      const young = { ...old, headers: { ...old.headers, timestamp: String(Number(old.headers["timestamp"]) + DAY) } };
      await persist(writer, v2At(0, service), v2At(DAY, service), old, young);
      await persist(typed, v2At(0, service, "typed"), v2At(DAY, service, "typed"));

      const sweeping = await place.sink(
        { "persistence_policy.expiration_time": 3600 },
        () => new Date(Date.parse("2020-05-14T14:46:21.918Z")),
      );
      await sweeping.sink.sweep();

      for (const table of ["car1_t", "urn_x", "typed_t"])
        assert.equal((await place.rows(service, table)).length, 1, table);
      assert.equal((await place.rows(service, "urn_x"))[0]?.["recvtime"], "2020-05-14T14:46:21.918Z");
    },
  },
  {
    name: "twelve thousand rows are capped in several steps",
    service: "steps",
    run: async (place, service) => {
      const attributes = Array.from({ length: 12_000 }, (_, index) => attribute(`a${index}`, String(index)));
      const body = { ...entity("e", {}), attributes };

      await persist(
        await place.sink({ attr_persistence: "row", "persistence_policy.max_records": 10 }),
        eventOf(body, service),
      );

      assert.equal((await place.rows(service, "e")).length, 10);
    },
  },
  {
    name: "tables of last data keep their rows",
    service: "lastkept",
    run: async (place, service) => {
      const config = {
        last_data_mode: "both",
        "persistence_policy.max_records": 0,
        "persistence_policy.expiration_time": 1,
      } as const;
      const sink = await place.sink(config, () => new Date(Date.parse("2021-01-01T00:00:00Z")));

      await persist(sink, v2At(0, service));
      await sink.sink.sweep();

      assert.equal((await place.rows(service, "car1_t")).length, 0);
      assert.equal((await place.rows(service, "car1_t_last_data")).length, 1);
    },
  },
]);
