import assert from "node:assert/strict";
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { plain, type Statement } from "../../../core/sql/index.js";
import { SqliteDriver } from "../../../plugins/rdb-sink/sqlite/driver.js";
import { inTurn } from "../../../plugins/rdb-sink/sqlite/file-turns.js";
import { tempFolder } from "../../support/temp-folder.js";
import { never } from "./sinks.js";

const at = (schema: string) => ({ database: "", schema, table: "e" });
const made = (schema: string): Statement => plain(at(schema), "CREATE TABLE IF NOT EXISTS e (a text)");
const row = (schema: string): Statement => ({ at: at(schema), text: "INSERT INTO e VALUES (?)", runs: [["x"]] });

test("sinks of one process that write the same files, under whatever names, are never refused because of each other", async (context) => {
  const folder = await tempFolder(context);
  const link = join(await tempFolder(context), "link");
  await symlink(folder, link);
  // A file that is locked is refused at once.
  const drivers = [folder, folder, link].map((name) => new SqliteDriver(name, { busyMillis: 0 }));
  context.after(() => Promise.all(drivers.map((driver) => driver.close())));
  for (const driver of drivers) await driver.write([made("s"), made("t")], never);

  for (let round = 1; round <= 20; round += 1) {
    const [one, other] = round % 2 === 0 ? ["s", "t"] : ["t", "s"];
    await Promise.all(drivers.map((driver) => driver.write([row(one), row(other)], never)));
  }

  for (const schema of ["s", "t"])
    assert.deepEqual(await drivers[0]?.read([plain(at(schema), "SELECT count(*) FROM e")], never), [["60"]]);
});

test("turns come in the order in which they were asked for, also where one of several files is free", async () => {
  const order: string[] = [];
  const noted = (name: string) => async () => {
    order.push(name);
    await setImmediate();
    order.push(`${name} done`);
  };

  const turns = [
    inTurn(["a"], never, noted("a")),
    inTurn(["a", "b"], never, noted("ab")),
    inTurn(["b"], never, noted("b")),
    inTurn(["b", "a"], never, noted("ba")),
    inTurn(["c"], never, noted("c")),
  ];
  await Promise.all(turns);

  const [first, second, ...rest] = order;
  assert.deepEqual([first, second], ["a", "c"]);
  assert.deepEqual(
    rest.filter((step) => step !== "c done"),
    ["a done", "ab", "ab done", "b", "b done", "ba", "ba done"],
  );
});

test("who gives up waiting for its turn is not run, and lets those behind it run no sooner than those before it have ended", async () => {
  const order: string[] = [];
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const giving = new AbortController();

  const one = inTurn(["a"], never, async () => {
    await ended;
    order.push("first");
  });
  const gone = inTurn(["a"], giving.signal, async () => {
    order.push("gone");
  });
  const last = inTurn(["a"], never, async () => {
    order.push("last");
  });
  giving.abort();
  await assert.rejects(gone, { code: "WRITE_ABORTED" });
  end();
  await Promise.all([one, last]);

  assert.deepEqual(order, ["first", "last"]);
});

test("a turn whose work fails ends as any other", async () => {
  const failing = inTurn(["a"], never, async () => {
    throw new Error("no");
  });
  const next = inTurn(["a"], never, async () => "done");

  await assert.rejects(failing, /^Error: no$/);
  assert.equal(await next, "done");
});
