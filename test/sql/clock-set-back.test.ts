import assert from "node:assert/strict";
import { test } from "node:test";
import { ErrorTableWriter } from "../../core/sql/features/error-table-writer.js";
import { hasPassed } from "../../core/sql/tables/known-store.js";
import { ldEvent } from "../plugins/rdb-sink/ld-events.js";
import { type Case, onEveryDatabase, persist } from "../plugins/rdb-sink/on-every-database.js";
import { entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";
import { recordingLog } from "../support/recording-log.js";

const HOUR = 3_600_000;
const noon = Date.parse("2026-11-27T12:00:00Z");
const property = (value: unknown, more: object = {}) => ({ type: "Property", value, ...more });

/** A clock that is set back by an hour. */
function clock() {
  let millis = noon;
  return {
    now: () => new Date(millis),
    setBack: () => {
      millis -= HOUR;
    },
  };
}

const cases: readonly Case[] = [
  {
    name: "a refused register is tried again when the clock was set back, and no later",
    service: "setbackregister",
    run: async (place, service) => {
      const { now, setBack } = clock();
      await persist(await place.sink(), eventOf(entity("one", { a: "1" }), service));
      await place.alter(...place.registerOf(service), "DROP TABLE @");
      await place.alter(...place.registerOf(service), "CREATE TABLE @ (something_else int)");
      const sink = await place.sink({}, now);
      await persist(sink, eventOf(entity("two", { a: "1" }), service));
      await place.alter(...place.registerOf(service), "DROP TABLE @");

      setBack();
      await persist(sink, eventOf(entity("three", { a: "1" }), service));

      assert.deepEqual(
        sink.lines.map(({ message }) => message).filter((message) => message.startsWith("tables are")),
        ["tables are not listed, will be tried again", "tables are listed again"],
      );
    },
  },
  {
    name: "a refused register is tried again after ten seconds",
    service: "soonregister",
    run: async (place, service) => {
      let millis = noon;
      await persist(await place.sink(), eventOf(entity("one", { a: "1" }), service));
      await place.alter(...place.registerOf(service), "DROP TABLE @");
      await place.alter(...place.registerOf(service), "CREATE TABLE @ (something_else int)");
      const sink = await place.sink({}, () => new Date(millis));
      await persist(sink, eventOf(entity("two", { a: "1" }), service));
      await place.alter(...place.registerOf(service), "DROP TABLE @");

      millis += 10_000;
      await persist(sink, eventOf(entity("three", { a: "1" }), service));

      assert.deepEqual(
        sink.lines.map(({ message }) => message).filter((message) => message.startsWith("tables are")),
        ["tables are not listed, will be tried again", "tables are listed again"],
      );
    },
  },
  {
    name: "a second agent empties members of columns that it did not make although the clock was set back",
    service: "setbackmembers",
    run: async (place, service) => {
      const { now, setBack } = clock();
      const both = { last_data_mode: "both" } as const;
      const one = await place.sink(both, now, { name: "one" });
      const other = await place.sink(both, now, { name: "other" });

      await persist(other, ldEvent("e", { temperature: property(1) }, service, 0));
      await persist(one, ldEvent("e", { temperature: property(2, { unitCode: "CEL" }) }, service, 1));
      setBack();
      await persist(other, ldEvent("e", { temperature: property(5) }, service, 2));

      const [row] = await place.rows(service, "e_last_data");
      assert.deepEqual([row?.["temperature"], row?.["temperature_unitcode"]], ["5", undefined]);
    },
  },
];

await onEveryDatabase("a clock that was set back", cases);

test("the error table is written again when the clock was set back after a failure", async () => {
  const { now, setBack } = clock();
  const added: string[] = [];
  const outcomes = [Promise.reject(new Error("no room")), Promise.resolve()];
  const add = async ({ error }: { readonly error: unknown }) => {
    added.push(String(error));
    await outcomes.shift();
  };
  const errors = new ErrorTableWriter({ add }, { log: recordingLog().log, now });
  const report = (error: string) =>
    errors.add({ of: () => ({ database: "", schema: "s" }), error, statements: () => [] });

  report("first");
  await new Promise<void>((resolve) => setImmediate(resolve));
  report("in the pause");
  setBack();
  report("after it");
  await errors.stop(never);

  assert.deepEqual(added, ["first", "after it"]);
});

test("time has passed when it has, when nothing was before it, and when the clock was set back", () => {
  assert.deepEqual(
    [undefined, 0, 1, 11].map((at) => hasPassed(10, at, 10)),
    [true, true, false, true],
  );
});
