import assert from "node:assert/strict";
import type { Event } from "../../core/sdk/index.js";
import type { Place } from "../plugins/rdb-sink/databases.js";
import { ldEvent } from "../plugins/rdb-sink/ld-events.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { v2Attribute, v2Entity, v2Event } from "../plugins/rdb-sink/v2-events.js";

const both = { last_data_mode: "both", data_model: "dm-by-entity-type" } as const;

/** How an API says that entity `e` has a value or was deleted, at this number of milliseconds after the time of the other tests. */
const apis = {
  ld: {
    has: (p: number, service: string, later: number): Event =>
      ldEvent("e", { p: { type: "Property", value: p } }, service, later),
    goes: (service: string, later: number): Event =>
      ldEvent("e", { deletedAt: "2026-11-22T07:06:02.669000Z", p: { type: "Property", value: 9 } }, service, later),
  },
  v2: {
    has: (p: number, service: string, later: number): Event =>
      v2Event(v2Entity("e", v2Attribute("p", "Number", p)), service, { later }),
    goes: (service: string, later: number): Event =>
      v2Event(v2Entity("e", v2Attribute("alterationType", "Text", "entityDelete")), service, { later }),
  },
} as const;

type Step = readonly [what: "has" | "goes", later: number, value?: number];

const orders: readonly {
  readonly name: string;
  readonly batches: readonly (readonly Step[])[];
  readonly left: readonly string[];
}[] = [
  { name: "deleted", batches: [[["has", 0, 1]], [["goes", 1]]], left: [] },
  { name: "deleted and made again", batches: [[["has", 0, 1]], [["goes", 1]], [["has", 2, 3]]], left: ["3"] },
  {
    name: "deleted and made again in one batch",
    batches: [
      [
        ["has", 0, 1],
        ["goes", 1],
        ["has", 2, 3],
      ],
    ],
    left: ["3"],
  },
  {
    name: "made and deleted in one batch",
    batches: [
      [
        ["has", 0, 1],
        ["goes", 1],
      ],
    ],
    left: [],
  },
  { name: "made and deleted in one millisecond", batches: [[["has", 0, 1]], [["goes", 0]]], left: [] },
  { name: "deleted by an older notification", batches: [[["has", 2, 1]], [["goes", 1]]], left: ["1"] },
  {
    name: "deleted by an older notification of one batch",
    batches: [
      [
        ["has", 2, 1],
        ["goes", 1],
      ],
    ],
    left: ["1"],
  },
  {
    name: "deleted, with an older notification behind it in the batch",
    batches: [
      [
        ["has", 0, 1],
        ["goes", 2],
        ["has", 1, 3],
      ],
    ],
    left: [],
  },
];

const layouts = { column: "p", row: "attrvalue" } as const;

async function lastValues(place: Place, service: string, column: string): Promise<readonly (string | undefined)[]> {
  return (await place.rows(service, "t_last_data")).map((row) => row[column]);
}

await onEveryDatabase(
  "removed entities",
  Object.entries(apis).flatMap(([api, events]) =>
    Object.entries(layouts).flatMap(
      ([layout, column]) =>
        orders.map(({ name, batches, left }, index) => ({
          name: `last data in the ${layout} layout of an ${api} entity that was ${name}`,
          service: `gone${api}${layout}${index}`,
          run: async (place, service) => {
            const sink = await place.sink({ ...both, attr_persistence: layout === "row" ? "row" : "column" });

            for (const batch of batches) {
              const steps = batch.map(([what, later, value = 0]) =>
                what === "has" ? events.has(value, service, later) : events.goes(service, later),
              );
              await persist(sink, ...steps);
            }

            assert.deepEqual(await lastValues(place, service, column), left);
          },
        })) satisfies Parameters<typeof onEveryDatabase>[1],
    ),
  ),
);

await onEveryDatabase("the history of removed entities", [
  {
    name: "deletedAt is in the row of the deletion, and no column of last data",
    service: "historyld",
    run: async (place, service) => {
      const sink = await place.sink(both);

      await persist(sink, apis.ld.has(1, service, 0), apis.ld.goes(service, 1), apis.ld.has(2, service, 2));

      const history = await place.rows(service, "t");
      assert.deepEqual(
        history.map((row) => row["deletedat"]),
        [undefined, "2026-11-22T07:06:02.669000Z", undefined],
      );
      const [row = {}] = await place.rows(service, "t_last_data");
      assert.equal("deletedat" in row, false);
    },
  },
  {
    name: "alterationtype is in the row of the deletion and empty in others, and has no metadata",
    service: "historyv2",
    run: async (place, service) => {
      const sink = await place.sink(both);
      const update = v2Attribute("alterationType", "Text", "entityUpdate");

      await persist(sink, v2Event(v2Entity("e", v2Attribute("p", "Number", 1), update), service));
      const [before = {}] = await place.rows(service, "t");
      await persist(sink, apis.v2.goes(service, 1));

      assert.equal("alterationtype" in before, false);
      const rows = await place.rows(service, "t");
      assert.deepEqual(
        rows.map((row) => row["alterationtype"]),
        [undefined, "entityDelete"],
      );
      assert.equal(Object.keys(rows[0] ?? {}).filter((column) => column.startsWith("alteration")).length, 1);
    },
  },
  {
    name: "an entity is deleted by its key alone if the time of its last data is that of an attribute",
    service: "timeless",
    run: async (place, service) => {
      const sink = await place.sink({ ...both, last_data_timestamp_key: "seenAt" });
      const seenAt = { type: "Property", value: "2026-01-01T12:00:00Z" };

      await persist(sink, ldEvent("e", { seenAt }, service), ldEvent("f", { seenAt }, service));
      await persist(sink, ldEvent("e", { deletedAt: "2026-01-01T12:00:01Z" }, service, 1));

      assert.deepEqual(await lastValues(place, service, "entityid"), ["f"]);
    },
  },
]);
