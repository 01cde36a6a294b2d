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
    name: "times of other zones are compared as instants",
    service: "offsets",
    run: async (place, service) => {
      // In MySQL texts must be in UTC to be compared; its server is shared, and schemas have a prefix.
      const typed = place.prefix !== "";
      const config = {
        last_data_mode: "upsert",
        last_data_timestamp_key: "measured",
        attr_native_types: typed,
      } as const;
      const sink = await place.sink(config);
      const timed = (id: string, value: string) =>
        v2Event(v2Entity(id, v2Attribute("measured", "DateTime", value), v2Attribute("of", "Text", value)), service);
      const pairs = [
        ["2026-07-01T12:30:00+0200", "2026-07-01T10:00:00Z"],
        ["2026-07-01T10:00:00.5+00:00", "2026-07-01T12:00:00.4+0200"],
        ["2026-07-01T08:00:00.6-0200", "2026-07-01T10:00:00.55+0000"],
      ] as const;

      for (const [index, [late, early]] of pairs.entries()) {
        await persist(sink, timed(`a${index}`, late), timed(`b${index}`, early));
        await persist(sink, timed(`a${index}`, early), timed(`b${index}`, late));
      }

      for (const [index, [late]] of pairs.entries()) {
        for (const id of [`a${index}`, `b${index}`]) {
          const [row] = await place.rows(service, `${id}_t_last_data`);
          assert.equal(row?.["of"], late);
        }
      }
    },
  },
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
