import assert from "node:assert/strict";
import type { StoredData } from "../../core/sdk/index.js";
import { type Case, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";

const listedBy = async (data: StoredData, schema: string, name: string) =>
  ((await data.tables?.({}, never)) ?? [])
    .filter((table) => table.schema === schema && table.sink === name)
    .map(({ table, kind }) => `${table} ${kind}`);

const cases: readonly Case[] = [
  {
    name: "tables with the columns of a layout are adopted by schema, others are not, and a dry run changes nothing",
    service: "adopted",
    run: async (place, service) => {
      const sink = await place.sink();
      await persist(sink, eventOf(entity("mine", { a: "1" }), service));
      for (const table of ["old", "old_last_data", "o'dd; x"])
        await place.alter(service, table, "CREATE TABLE @ (recvtime text, entityid text, entitytype text)");
      await place.alter(service, "users", "CREATE TABLE @ (recvtime text, entityid text)");
      const data = place.data();
      const request = { tables: [], schemas: [service], fromOthers: false };

      const dry = await data.adopt?.(request, true, never);
      const before = await listedBy(data, service, "sink");
      const done = await data.adopt?.(request, false, never);

      assert.deepEqual(dry, done);
      assert.deepEqual(before, ["mine history"]);
      assert.deepEqual(await listedBy(data, service, "sink"), [
        "mine history",
        "o'dd; x history",
        "old history",
        "old_last_data last data",
      ]);
      assert.deepEqual(done?.map(({ name, outcome }) => [name.slice(name.indexOf(".") + 1), outcome]).sort(), [
        ["mine", "unchanged"],
        ["o'dd; x", "done"],
        ["old", "done"],
        ["old_last_data", "done"],
      ]);
    },
  },
  {
    name: "a name without such a table, a shortened one and a table of another sink are refused",
    service: "refused",
    run: async (place, service) => {
      const other = await place.sink({}, undefined, { name: "other" });
      await persist(other, eventOf(entity("theirs", { a: "1" }), service));
      await place.alter(service, "users", "CREATE TABLE @ (recvtime text, entityid text)");
      const data = place.data();
      const [theirs] = (await data.tables?.({ service }, never)) ?? [];
      const name = theirs?.name ?? "";
      const names = { tables: [name, name.replace("theirs", "users"), "nothing"], schemas: [] };

      const refused = await data.adopt?.({ ...names, fromOthers: false }, false, never);
      const both = await data.adopt?.({ ...names, fromOthers: true }, false, never);

      assert.deepEqual(
        refused?.map(({ outcome }) => outcome),
        ["refused", "refused", "refused"],
      );
      assert.match(refused?.[0]?.reason ?? "", /sink "other" has listed it/);
      assert.deepEqual(
        both?.map(({ outcome }) => outcome),
        ["done", "refused", "refused"],
      );
      assert.deepEqual(await listedBy(data, service, "sink"), ["theirs history"]);
      assert.deepEqual(await listedBy(data, service, "other"), ["theirs history"]);
    },
  },
  {
    name: "an adopted table is swept, and one that is not adopted keeps its rows",
    service: "sweptthen",
    run: async (place, service) => {
      await persist(await place.sink(), eventOf(entity("mine", { a: "1" }), service));
      for (const table of ["old", "theirs"]) {
        await place.alter(service, table, "CREATE TABLE @ (recvtime text, entityid text, entitytype text)");
        await place.alter(service, table, "INSERT INTO @ VALUES ('2020-05-13 14:46:21.918', 'e', 'T')");
      }
      const data = place.data();
      const [mine] = (await data.tables?.({ service }, never)) ?? [];
      const old = (mine?.name ?? "").replace("mine", "old");
      await data.adopt?.({ tables: [old], schemas: [], fromOthers: false }, false, never);

      const sweeping = await place.sink(
        { "persistence_policy.expiration_time": 3600 },
        () => new Date("2021-01-01T00:00:00Z"),
      );
      await sweeping.sink.sweep();

      assert.equal((await place.rows(service, "old")).length, 0);
      assert.equal((await place.rows(service, "theirs")).length, 1);
    },
  },
];

await onEveryDatabase("adopting tables", cases);
