import assert from "node:assert/strict";
import type { Place } from "../plugins/rdb-sink/databases.js";
import { ldEvent } from "../plugins/rdb-sink/ld-events.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { v2Attribute, v2Entity, v2Event } from "../plugins/rdb-sink/v2-events.js";

process.env["TZ"] = "Europe/Madrid";

const measured = (value: string, more: object = {}) => ({ measured: { type: "Property", value }, ...more });

const micros = ["10:00:00Z", "10:00:00.5Z", "10:00:00.500001Z", "10:00:00.9996Z", "10:00:01.0001Z"].map(
  (time) => `2026-07-01T${time}`,
);

await onEveryDatabase("last data in an agent with a zone of its own", [
  ...[true, false].map((typed) => ({
    name: `times of ${typed ? "a type" : "texts"} are compared to the microsecond`,
    service: typed ? "microstyped" : "micros",
    run: async (place: Place, service: string) => {
      const config = {
        last_data_mode: "upsert",
        last_data_timestamp_key: "measured",
        attr_native_types: typed,
      } as const;
      const sink = await place.sink(config);
      const kept: unknown[] = [];

      for (const time of [...micros, ...micros]) {
        const entity = v2Entity("e", v2Attribute("measured", "DateTime", time), v2Attribute("of", "Text", time));
        await persist(sink, v2Event(entity, service));
        kept.push((await place.rows(service, "e_t_last_data"))[0]?.["of"]);
      }

      assert.deepEqual(kept, [...micros, ...micros.map(() => micros.at(-1))]);
    },
  })),
  {
    name: "a time without a zone is in UTC beside the deletion of one batch",
    service: "zones",
    run: async (place, service) => {
      const sink = await place.sink({ last_data_mode: "upsert", last_data_timestamp_key: "measured" });

      await persist(
        sink,
        ldEvent("e", measured("2026-07-01T10:00:00Z"), service),
        ldEvent("e", measured("2026-07-01T11:00:00Z", { deletedAt: "2026-07-01T11:00:00Z" }), service, 1),
        ldEvent("e", measured("2026-07-01T11:30:00"), service, 2),
      );

      assert.deepEqual(
        (await place.rows(service, "e_last_data")).map((row) => row["measured"]),
        ["2026-07-01T11:30:00"],
      );
    },
  },
]);
