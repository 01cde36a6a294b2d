import assert from "node:assert/strict";
import type { Place } from "../plugins/rdb-sink/databases.js";
import { type Case, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";

const later = () => new Date("2030-01-01T00:00:00Z");
const age = { retention_days: 1 } as const;
const dry = { fromOthers: false, tables: [] } as const;

/** Names of sinks that no other case of a shared server has. */
const agents = (service: string) =>
  ({
    one: { agent: "one", name: `s_${service}` },
    two: { agent: "two", name: `s_${service}` },
    earlier: { name: `s_${service}` },
  }) as const;

const event = (service: string, id: string) => eventOf(entity(id, { a: "1" }), service);
const count = async (place: Place, service: string, table: string) => (await place.rows(service, table)).length;
const warnings = (lines: readonly { readonly level: string; readonly message: string }[]) =>
  lines.flatMap(({ level, message }) => (level === "warn" ? [message] : []));

const cases: readonly Case[] = [
  {
    name: "retention, erasure, adoption and partitions of one agent leave the tables of the other one alone",
    service: "twoagents",
    run: async (place, service) => {
      const { one, two } = agents(service);
      const first = await place.sink(age, later, one);
      const second = await place.sink({}, later, two);
      await persist(first, event(service, "mine"), event(service, "both"));
      await persist(second, event(service, "theirs"), event(service, "both"));
      const data = place.data({}, one);

      await first.sink.sweep();
      const erased = await data.erase?.({ entity: "theirs" }, false, never);
      const refused = await data.adopt?.({ ...dry, schemas: [service] }, false, never);
      const all = (await data.tables?.({ service }, never)) ?? [];
      const partitioned = await data.partition?.([], true, never);

      assert.deepEqual([await count(place, service, "mine"), await count(place, service, "theirs")], [0, 1]);
      assert.deepEqual(erased?.erased, []);
      assert.match(JSON.stringify(erased?.untouched), /theirs.*only sink .*s_.*twoagents.* of agent .*two/);
      assert.deepEqual(refused?.map(({ name, outcome }) => `${name.split(".").at(-1)} ${outcome}`).sort(), [
        "both unchanged",
        "mine unchanged",
        "theirs refused",
      ]);
      assert.deepEqual(
        all.map(({ table, agent }) => `${table} ${agent}`),
        ["both one", "both two", "mine one", "theirs two"],
      );
      assert.deepEqual(partitioned?.map(({ name }) => name.split(".").at(-1)).sort(), ["both", "mine"]);
    },
  },
  {
    name: "the tables in a register of an earlier version are those of its only agent",
    service: "earlierone",
    run: async (place, service) => {
      const { one, earlier } = agents(service);
      await persist(await place.sink({}, () => new Date(0), earlier), event(service, "old"), event(service, "new"));
      const upgraded = await place.sink(age, later, one);
      await persist(upgraded, event(service, "new"));

      await upgraded.sink.sweep();
      const all = (await place.data({}, one).tables?.({ service }, never)) ?? [];

      assert.deepEqual([await count(place, service, "old"), await count(place, service, "new")], [0, 0]);
      assert.deepEqual(
        all.map(({ table, agent, firstWrite }) => [table, agent, firstWrite]),
        [
          ["new", "one", "1970-01-01T00:00:00.000Z"],
          ["old", undefined, "1970-01-01T00:00:00.000Z"],
        ],
      );
      assert.deepEqual(warnings(upgraded.lines), []);
    },
  },
  {
    name: "a table that an earlier version listed is nobody's when two agents have its sink, until one adopts it",
    service: "earliertwo",
    run: async (place, service) => {
      const { one, two, earlier } = agents(service);
      const before = await place.sink({}, later, earlier);
      await persist(before, event(service, "old"), event(service, "theirs"));
      await persist(await place.sink({}, later, two), event(service, "theirs"));
      const upgraded = await place.sink(age, later, one);
      await persist(upgraded, event(service, "mine"));
      const data = place.data({}, one);

      await upgraded.sink.sweep();
      await upgraded.sink.sweep();
      const kept = [await count(place, service, "old"), await count(place, service, "theirs")];
      const erased = await data.erase?.({ entity: "old" }, true, never);
      const refused = await data.partition?.([], true, never);
      const old = (await data.tables?.({ service }, never))?.find(({ table }) => table === "old")?.name ?? "";
      const adopted = await data.adopt?.({ ...dry, schemas: [], tables: [old] }, false, never);
      await upgraded.sink.sweep();

      assert.deepEqual(kept, [1, 2]);
      assert.equal(warnings(upgraded.lines).filter((line) => line.includes("deneb tables adopt")).length, 1);
      assert.match(erased?.left.map(({ name, reason }) => `${name} ${reason}`).join() ?? "", /old an earlier version/);
      assert.match(
        refused?.find(({ name }) => name === old)?.reason ?? "",
        /an earlier version listed it, and several agents/,
      );
      assert.deepEqual(
        adopted?.map(({ outcome }) => outcome),
        ["done"],
      );
      assert.deepEqual([await count(place, service, "old"), await count(place, service, "theirs")], [0, 2]);
    },
  },
];

await onEveryDatabase("two agents with one name of a sink", cases);
