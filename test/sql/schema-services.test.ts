import assert from "node:assert/strict";
import { test } from "node:test";
import { namingOf, type SqlConfig } from "../../core/sql/contract/schema.js";
import { Tables } from "../../core/sql/tables/known-tables.js";
import { SchemaServices } from "../../core/sql/tables/schema-services.js";
import { databases } from "../../plugins/rdb-sink/databases.js";
import { configOf } from "../plugins/rdb-sink/sinks.js";
import { recordingLog } from "../support/recording-log.js";

const never = new AbortController().signal;
const schema = (name: string) => ({ database: "", schema: name });

/** Services over a store whose register is read and written by `read` and `write`. */
function services(read: () => Promise<readonly []> = async () => [], write: () => Promise<number> = async () => 0) {
  const config: SqlConfig = configOf({});
  const { log, lines } = recordingLog();
  const clock = { millis: 0 };
  const now = () => new Date(clock.millis);
  const opened = databases.postgresql.open(configOf({}), { name: "s", log, dataDir: "", run: "run", now });
  const values: number[] = [];
  const gauge = { set: (value: number) => void values.push(value) };
  const histogram = () => ({ observe: () => undefined });
  const metrics = { counter: () => ({ add: () => undefined }), gauge: () => gauge, histogram };
  const store = {
    ...opened,
    driver: { ...opened.driver, read, write },
    naming: namingOf(config, "postgresql"),
    nativeTypes: false,
    tables: new Tables((column) => column),
    log,
  };
  return { own: new SchemaServices(store, { name: "s", now, metrics }), lines, values, clock };
}

test("a gauge counts the schemas of more than one service, each once", () => {
  const { own, values } = services();

  for (const [name, service] of [
    ["a", "a"],
    ["a", "A"],
    ["b", "b"],
    ["a", "A"],
    ["b", "B"],
    ["b", "b "],
  ] as const)
    own.note(schema(name), service);

  assert.deepEqual(values, [1, 2, 2]);
});

test("a register that is refused is asked again after ten seconds, then twenty, with one warning for each time and a line when it works", async () => {
  const written: string[] = [];
  const failing = { is: true };
  const { own, lines, clock } = services(undefined, async () => {
    written.push("write");
    if (failing.is) throw new Error("permission denied");
    return 0;
  });

  own.note(schema("a"), "a");
  own.note(schema("b"), "b");
  const tables = [{ name: schema("a") }, { name: schema("b") }];
  await own.register(tables, never);
  await own.register(tables, never);
  const [attempts, warnings] = [written.length, lines.length];
  clock.millis = 10_000;
  await own.register(tables, never);
  clock.millis = 29_999;
  await own.register(tables, never);
  const [attemptsLater, warningsLater] = [written.length, lines.length];
  clock.millis = 30_000;
  failing.is = false;
  await own.register(tables, never);
  await own.register(tables, never);

  assert.deepEqual([attempts, warnings], [1, 1]);
  assert.deepEqual([attemptsLater, warningsLater], [2, 2]);
  assert.deepEqual([written.length, lines.length], [4, 3]);
});

test("a register that was refused is asked again at once when the clock was set back", async () => {
  const written: string[] = [];
  const { own, clock } = services(undefined, async () => {
    written.push("write");
    throw new Error("permission denied");
  });
  own.note(schema("a"), "a");
  clock.millis = 7_200_000;
  await own.register([{ name: schema("a") }], never);

  clock.millis = 3_600_000;
  await own.register([{ name: schema("a") }], never);

  assert.equal(written.length, 2);
});

test("many schemas that are never written take bounded room, and the latest are still listed", async () => {
  const written: string[] = [];
  const { own } = services(undefined, async () => {
    written.push("write");
    return 0;
  });

  for (let at = 0; at < 30_000; at += 1) own.note(schema(`s${at}`), `s${at}`);
  await own.register([{ name: schema("s0") }, { name: schema("s29999") }], never);

  assert.deepEqual(written, ["write"]);
});
