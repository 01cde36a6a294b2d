import assert from "node:assert/strict";
import type { Event } from "../../core/sdk/index.js";
import { onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, receivedAt } from "../plugins/rdb-sink/sinks.js";
import { v2Attribute, v2Entity, v2Event } from "../plugins/rdb-sink/v2-events.js";

const all = { notification_columns: ["sequence", "notifiedat", "SubscriptionId"] } as const;
const micros = Date.parse(receivedAt) * 1000;
const notified = { "notified-at": "2020-05-13T14:46:21Z", "subscription-id": "urn:s:1" } as const;

function withHeaders({ headers, body }: Event, more: Readonly<Record<string, string>>): Event {
  return JSON.parse(JSON.stringify({ headers: { ...headers, ...more }, body }));
}

const numbered = (service: string, at: number, attributes: Readonly<Record<string, string>>): Event =>
  withHeaders(eventOf(entity("urn:x:1", attributes), service), { ...notified, sequence: String(micros + at) });

await onEveryDatabase("notification columns", [
  {
    name: "rows have time, subscription and sequence behind the type of the entity",
    service: "notified",
    run: async (place, service) => {
      await persist(await place.sink(all), numbered(service, 1, { p: "1" }));

      assert.deepEqual(await place.rows(service, "urn_x_1"), [
        {
          recvtime: receivedAt,
          entityid: "urn:x:1",
          entitytype: "T",
          notifiedat: "2020-05-13T14:46:21Z",
          subscriptionid: "urn:s:1",
          sequence: String(micros + 1),
          p: "1",
        },
      ]);
    },
  },
  {
    name: "rows of NGSI v2 have no time, and an event of an earlier version the number of its reception time",
    service: "notifiedv2",
    run: async (place, service) => {
      const event = v2Event(v2Entity("car1", v2Attribute("p", "Number", 1)), service);

      await persist(await place.sink(all), event, withHeaders(event, { sequence: "12abc" }));

      const rows = await place.rows(service, "car1_t");
      assert.deepEqual(
        rows.map(({ notifiedat, subscriptionid, sequence }) => [notifiedat, subscriptionid, sequence]),
        [0, 1].map(() => [undefined, undefined, String(micros)]),
      );
    },
  },
  {
    name: "the row layout has them in each row of an attribute",
    service: "notifiedrow",
    run: async (place, service) => {
      const sink = await place.sink({ ...all, attr_persistence: "row" });

      await persist(sink, numbered(service, 1, { p: "1", q: "2" }));

      const rows = await place.rows(service, "urn_x_1");
      assert.deepEqual(
        rows.map(({ attrname, subscriptionid, sequence }) => [attrname, subscriptionid, sequence]),
        ["p", "q"].map((name) => [name, "urn:s:1", String(micros + 1)]),
      );
    },
  },
  {
    name: "an attribute of the same name has a column of its own",
    service: "notifiedclash",
    run: async (place, service) => {
      await persist(await place.sink(all), numbered(service, 1, { sequence: "own", notifiedAt: "own" }));

      const [row = {}] = await place.rows(service, "urn_x_1");
      const { sequence, notifiedat } = row;
      assert.deepEqual([sequence, notifiedat], [String(micros + 1), "2020-05-13T14:46:21Z"]);
      const hashed = Object.keys(row).filter((column) => /^(?:sequence|notifiedat)_[0-9a-f]{8}$/.test(column));
      assert.deepEqual(
        hashed.map((column) => row[column]),
        ["own", "own"],
      );
    },
  },
  {
    name: "without notification_columns an attribute of that name keeps the plain column",
    service: "notifiedoff",
    run: async (place, service) => {
      await persist(await place.sink(), numbered(service, 1, { sequence: "own" }));

      const [row = {}] = await place.rows(service, "urn_x_1");
      assert.deepEqual(Object.keys(row), ["recvtime", "entityid", "entitytype", "sequence"]);
      assert.equal(row["sequence"], "own");
    },
  },
  {
    name: "a table that exists gets the columns with the first row",
    service: "notifiedlater",
    run: async (place, service) => {
      await persist(await place.sink(), numbered(service, 1, { p: "1" }));
      await persist(await place.sink(all), numbered(service, 2, { p: "2" }));

      const rows = await place.rows(service, "urn_x_1");
      assert.deepEqual(
        rows.map(({ p, sequence }) => [p, sequence]),
        [
          ["1", undefined],
          ["2", String(micros + 2)],
        ],
      );
    },
  },
  {
    name: "last data by the sequence keep the later one of two notifications of a millisecond",
    service: "notifiedlast",
    run: async (place, service) => {
      const sink = await place.sink({ ...all, last_data_mode: "both", last_data_timestamp_key: "sequence" });
      const events = [9, 10].map((at) => numbered(service, at, { p: String(at) }));

      await persist(sink, ...events);
      await persist(sink, numbered(service, 8, { p: "replayed" }));

      const [row = {}] = await place.rows(service, "urn_x_1_last_data");
      assert.deepEqual([row["p"], row["sequence"]], ["10", String(micros + 10)]);
    },
  },
  {
    name: "a replayed event of earlier acceptance comes first in the order of the sequence, which is that of numbers",
    service: "notifiedorder",
    run: async (place, service) => {
      const sink = await place.sink({ ...all, attr_native_types: true });

      for (const at of [2, 11, 1]) await persist(sink, numbered(service, at, { p: String(at) }));

      const rows = await place.rows(service, "urn_x_1");
      const ordered = rows.toSorted((one, other) => Number(one["sequence"]) - Number(other["sequence"]));
      assert.deepEqual(
        ordered.map(({ p }) => p),
        ["1", "2", "11"],
      );
    },
  },
]);
