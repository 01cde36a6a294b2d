import assert from "node:assert/strict";
import { test } from "node:test";
import { entityOf } from "../../core/ngsi/index.js";
import { namingOf } from "../../core/sql/contract/schema.js";
import { LastData } from "../../core/sql/features/last-data/last-data.js";
import { ColumnLayout } from "../../core/sql/rows/column-layout.js";
import { databases } from "../../plugins/rdb-sink/databases.js";
import { ldEvent } from "../plugins/rdb-sink/ld-events.js";
import { configOf, receivedAt } from "../plugins/rdb-sink/sinks.js";
import { recordingLog } from "../support/recording-log.js";

const event = ldEvent(
  "urn:e",
  {
    speed: { type: "Property", value: 1, unitCode: "KMH", observedAt: "2026-01-01T00:00:00.123456789Z" },
    place: { type: "GeoProperty", value: { type: "Point", coordinates: [1, 2] } },
  },
  "s",
  1,
);

for (const native of [false, true])
  for (const removed of [false, true])
    test(`a row of last data has the same values all at once and one by one, ${native ? "typed" : "texts"}${removed ? ", of an entity that was deleted" : ""}`, () => {
      const config = configOf({ attr_native_types: native, attr_geometry: true, last_data_mode: "both" });
      const { log } = recordingLog();
      const { dialect } = databases.postgresql.open(config, {
        name: "s",
        log,
        dataDir: "",
        run: "run",
        now: () => new Date(0),
      });
      const naming = namingOf(config, "postgresql");
      const layout = new ColumnLayout(
        { nativeTypes: native, metadata: true, geometryX: "longitude" },
        { naming, keys: new Set(["recvtime", "entityid", "entitytype"]) },
      );
      const arrival = { epochMillis: Date.parse(receivedAt), servicePath: "/" };
      const placed = layout.rows(entityOf(event), arrival).map((row) => ({
        ...row,
        name: { database: "", schema: "s", table: "urn_e" },
        subject: "urn:e",
        event,
        removed,
      }));

      const [row] = new LastData(config, naming, dialect).rows(placed);

      assert.ok(row !== undefined && row.columns.length >= 3);
      assert.deepEqual(
        row.columns.map((_, column) => row.values(column)),
        row.values().map((value) => [value]),
      );
      assert.equal(row.values().length, row.columns.length);
    });
