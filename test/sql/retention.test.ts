import assert from "node:assert/strict";
import { shorten } from "../../core/ngsi/index.js";
import type { Place } from "../plugins/rdb-sink/databases.js";
import { type Case, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { attribute, entity, eventOf } from "../plugins/rdb-sink/sinks.js";
import { v2Attribute, v2Entity, v2Event } from "../plugins/rdb-sink/v2-events.js";

const DAY = 86_400_000;
const v2At = (later: number, service: string, id = "car1") =>
  v2Event(v2Entity(id, v2Attribute("p", "Number", later)), service, { later });

const cases: readonly Case[] = [
  {
    name: "capping deletes no row that is not excess after somebody deleted rows",
    service: "emptied",
    run: async (place, service) => {
      const sink = await place.sink({ "persistence_policy.max_records": 2 });
      for (const later of [0, 1, 2]) await persist(sink, v2At(later, service));
      await place.alter(service, "car1_t", "DELETE FROM @");

      for (const later of [3, 4]) await persist(sink, v2At(later, service));

      assert.deepEqual((await place.rows(service, "car1_t")).map(({ p }) => p).sort(), ["3", "4"]);
    },
  },
  {
    name: "capping by several agents keeps the newest rows, and deletes all older ones when one of them deletes",
    service: "sharedcap",
    run: async (place, service) => {
      const config = { "persistence_policy.max_records": 3 };
      const one = await place.sink(config, undefined, { agent: "one" });
      const other = await place.sink(config, undefined, { agent: "other" });

      await persist(one, v2At(0, service));
      await persist(other, v2At(1, service));
      for (const later of [2, 3]) await persist(one, v2At(later, service));
      for (const later of [4, 5]) await persist(other, v2At(later, service));
      await persist(one, v2At(6, service));

      assert.deepEqual((await place.rows(service, "car1_t")).map(({ p }) => p).sort(), ["4", "5", "6"]);
    },
  },
  {
    name: "capping deletes no row because an attribute has the name by which a database finds its rows",
    service: "addressed",
    run: async (place, service) => {
      const sink = await place.sink({ "persistence_policy.max_records": 2 });
      const attributes = ["rowid", "_rowid_", "oid", "ctid"].map((name) => v2Attribute(name, "Number", 1));

      for (const later of [0, 1, 2, 3])
        await persist(sink, v2Event(v2Entity("car1", ...attributes), service, { later }));

      assert.equal((await place.rows(service, "car1_t")).length, 2);
    },
  },
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
    name: "a clock that is set forward by years while the agent runs deletes no rows",
    service: "setforward",
    run: async (place, service) => {
      let now = Date.parse("2020-05-13T15:00:00Z");
      const sink = await place.sink({ "persistence_policy.expiration_time": 3600 }, () => new Date(now));
      await persist(sink, v2At(0, service), eventOf(entity("urn:x", { a: "1" }), service));

      now += 3650 * DAY;
      await sink.sink.sweep();

      for (const table of ["car1_t", "urn_x"]) assert.equal((await place.rows(service, table)).length, 1, table);
      assert.ok(sink.lines.some(({ level, message }) => level === "warn" && message.includes("set forward")));
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
  {
    name: "a table with our columns is swept only in adopted schemas, and one of another sink never",
    service: "looksalike",
    run: async (place, service) => {
      const writer = await place.sink();
      await persist(writer, v2At(0, service, "mine"));
      for (const table of ["similar", "similar_last_data"]) {
        await place.alter(service, table, "CREATE TABLE @ (recvtime text, entityid text, entitytype text)");
        await place.alter(service, table, "INSERT INTO @ VALUES ('2020-05-13 14:46:21.918', 'e', 'T')");
      }
      await persist(await place.sink({}, undefined, { name: "another" }), v2At(0, service, "theirs"));
      const later = () => new Date(Date.parse("2021-01-01T00:00:00Z"));
      const counts = async () => {
        const tables = ["mine_t", "similar", "similar_last_data", "theirs_t"];
        return await Promise.all(tables.map(async (table) => (await place.rows(service, table)).length));
      };
      const policy = { "persistence_policy.expiration_time": 3600 } as const;

      await (await place.sink(policy, later)).sink.sweep();
      assert.deepEqual(await counts(), [0, 1, 1, 1]);

      const adopting = { ...policy, "persistence_policy.adopted_schemas": [service] };
      await (await place.sink(adopting, later)).sink.sweep();
      assert.deepEqual(await counts(), [0, 0, 1, 1]);
    },
  },
  {
    name: "a table of an earlier version is swept after this sink has written to it",
    service: "continued",
    run: async (place, service) => {
      await persist(await place.sink(), v2At(0, service, "other"));
      const columns = "recvtime text, fiwareservicepath text, entityid text, entitytype text";
      await place.alter(service, "car1_t", `CREATE TABLE @ (${columns})`);
      await place.alter(service, "car1_t", "INSERT INTO @ VALUES ('2019-05-13 14:46:21.918', '/', 'car1', 'T')");
      const later = () => new Date(Date.parse("2020-05-13T14:46:22.918Z"));
      const { sink } = await place.sink({ "persistence_policy.expiration_time": 3600 }, later);

      await persist({ sink, lines: [] }, v2At(0, service));
      await sink.sweep();

      assert.deepEqual(
        (await place.rows(service, "car1_t")).map(({ p }) => p),
        ["0"],
      );
    },
  },
  {
    name: "a table of last data whose name was shortened keeps its rows, listed or not",
    service: "shortened",
    run: async (place, service) => {
      const id = `urn:${"i".repeat(100)}`;
      const history = shorten(`urn_${"i".repeat(100)}`, place.limit);
      const last = shorten(`${history}_last_data`, place.limit);
      const config = {
        last_data_mode: "both",
        "persistence_policy.max_records": 0,
        "persistence_policy.expiration_time": 1,
        "persistence_policy.adopted_schemas": [service],
      } as const;
      const later = () => new Date(Date.parse("2021-01-01T00:00:00Z"));
      const { sink } = await place.sink(config, later);
      await persist({ sink, lines: [] }, eventOf(entity(id, { a: "1" }), service));
      await sink.sweep();
      assert.deepEqual([(await place.rows(service, history)).length, (await place.rows(service, last)).length], [0, 1]);

      await place.alter(...place.registerOf(service), "DROP TABLE @");
      await (await place.sink(config, later)).sink.sweep();

      assert.equal((await place.rows(service, last)).length, 1);
    },
  },
  {
    name: "an entity that is named like a table of last data has no rows of it deleted",
    service: "namedlike",
    run: async (place, service) => {
      const sink = await place.sink({ last_data_mode: "both", "persistence_policy.max_records": 0 });
      await persist(sink, eventOf(entity("r", { a: "1" }), service));
      const capping = await place.sink({ "persistence_policy.max_records": 0 });

      await assert.rejects(persist(capping, eventOf(entity("r_last_data", { a: "9" }), service)));

      assert.equal((await place.rows(service, "r_last_data")).length, 1);
    },
  },
];

// On a server that other tests use too, a sweep reaches the tables of all sinks of the same name.
await onEveryDatabase(
  "retention",
  cases.map((one) => ({ ...one, run: (place, service) => one.run(withNamedSinks(place, `${service}-sink`), service) })),
);

function withNamedSinks(place: Place, name: string): Place {
  return { ...place, sink: (config, now, of) => place.sink(config, now, { name, ...of }) };
}
