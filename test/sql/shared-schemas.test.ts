import assert from "node:assert/strict";
import type { Event } from "../../core/sdk/index.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, type LoggingSink } from "../plugins/rdb-sink/sinks.js";

const SHARED = "services share a schema; enable_service_hash = true or name mappings keep them apart";
const event = (service: string, id = "urn:x:1"): Event => eventOf(entity(id, { p: service }), service);

/** What was told about shared schemas: each service with the others of its schema. */
function told({ lines }: LoggingSink): readonly (readonly [unknown, unknown])[] {
  return lines
    .filter(({ message }) => message === SHARED)
    .map(({ fields }) => ["service" in fields && fields.service, "others" in fields && fields.others] as const);
}

await onEveryDatabase("shared schemas", [
  {
    name: "two services of one schema are reported once, with both names",
    service: "shared_two",
    run: async (place, service) => {
      const sink = await place.sink();
      const [one, other] = [service, service.replace("_two", " two")];

      await persist(sink, event(one), event(other));
      await persist(sink, event(other), event(one), event(other, "urn:x:2"));

      assert.deepEqual(told(sink), [[other, [one]]]);
      assert.equal((await place.rows(service, "urn_x_1")).length, 4);
    },
  },
  {
    name: "two services that differ in letter case only share a schema of lower case",
    service: "shared_case",
    run: async (place, service) => {
      const sink = await place.sink({ enable_lowercase: true });

      await persist(sink, event(service.toUpperCase()), event(service));

      assert.deepEqual(told(sink), [[service, [service.toUpperCase()]]]);
    },
  },
  {
    name: "a service of an earlier run is known after a restart, also when it stores nothing any more",
    service: "shared_restart",
    run: async (place, service) => {
      const other = service.replace("_restart", "=restart");

      await persist(await place.sink(), event(service));
      const second = await place.sink();
      await persist(second, event(other));
      const third = await place.sink();
      await persist(third, event(other, "urn:x:2"));

      assert.deepEqual(told(second), [[service, [other]]]);
      assert.deepEqual(told(third), [[service, [other]]]);
    },
  },
  {
    name: "one service of a schema is not told, after a restart neither",
    service: "shared_none",
    run: async (place, service) => {
      const first = await place.sink();
      await persist(first, event(service));
      const second = await place.sink();
      await persist(second, event(service), event(service, "urn:x:2"));

      assert.deepEqual([told(first), told(second)], [[], []]);
    },
  },
  {
    name: "of many services of one schema the first twenty are reported, each with those before",
    service: "shared_many",
    run: async (place, service) => {
      const sink = await place.sink();
      const odd = [..." !#$%&'()*+,/:;<=>?@[]^`{|}~"];
      const services = odd.map((character) => service.replace("_many", `${character}many`));

      for (const one of services) await persist(sink, event(one));

      assert.equal(told(sink).length, 19);
    },
  },
  {
    name: "enable_service_hash keeps services apart and leaves one that is exactly its schema where it is",
    service: "shared_hash",
    run: async (place, service) => {
      const sink = await place.sink({ enable_service_hash: true });
      const other = service.replace("_hash", " hash");

      await persist(sink, event(service), event(other), event(service.replace("_hash", "!hash")));

      assert.deepEqual(told(sink), []);
      const rows = await place.rows(service, "urn_x_1");
      assert.deepEqual(
        rows.map(({ p }) => p),
        [service],
      );
    },
  },
]);
