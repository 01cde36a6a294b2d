import assert from "node:assert/strict";
import { ldEvent } from "../plugins/rdb-sink/ld-events.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";

process.env["TZ"] = "Europe/Madrid";

const measured = (value: string, more: object = {}) => ({ measured: { type: "Property", value }, ...more });

await onEveryDatabase("last data in an agent with a zone of its own", [
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
