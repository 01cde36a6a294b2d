import assert from "node:assert/strict";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import Database from "libsql";
import type { Batch, Event } from "../../../core/sdk/index.js";
import type { RdbConfig } from "../../../plugins/rdb-sink/config.js";
import { at } from "../../support/position.js";
import { tempFolder } from "../../support/temp-folder.js";
import { entity, eventOf, never, sinkOf } from "./sinks.js";

/** The batch of a channel whose events are numbered from 1, this being its first so many. */
function batchOf(events: readonly Event[]): Batch {
  return { events, position: at(`channel:${events.length}`, events) };
}

const [one, two, more] = ["one", "two", "one"].map((service, index) =>
  eventOf(entity("urn:p:1", { a: String(index) }), service),
);
const events = (...all: readonly (Event | undefined)[]) => all.filter((event) => event !== undefined);

async function sinkIn(context: TestContext, folder: string, config: Partial<RdbConfig> = {}) {
  const { sink } = sinkOf({ rdb_dialect: "sqlite", rdb_folder: folder, ...config });
  context.after(() => sink.stop(never));
  await sink.start();
  return sink;
}

/** A folder as it is when the process ends between the commit of file `one` and that of file `two`. */
async function killedBetween(context: TestContext): Promise<string> {
  const folder = await tempFolder(context);
  const [before, killed] = [join(folder, "before"), join(folder, "killed")];
  const live = join(folder, "live");
  const sink = await sinkIn(context, live);
  await sink.persist({ events: events(one, two) }, never);
  await cp(live, before, { recursive: true });
  await sink.persist(batchOf(events(one, two)), never);
  await sink.stop(never);
  await cp(live, killed, { recursive: true });
  for (const end of ["", "-wal", "-shm"]) await rm(join(killed, `two.db${end}`), { force: true });
  await cp(before, killed, { recursive: true, filter: (file) => file === before || file.includes("two.db") });
  return killed;
}

function rows(folder: string, service: string, table = "urn_p_1"): readonly string[] {
  const database = new Database(join(folder, `${service}.db`));
  const found = database.prepare(`SELECT a FROM ${table} ORDER BY rowid`).raw().all();
  database.close();
  return found.map((row) => String(Array.isArray(row) ? row[0] : row));
}

test("a file that was committed before the process ended gets no row again, the other file gets its own", async (context) => {
  const folder = await killedBetween(context);
  const sink = await sinkIn(context, folder);

  assert.deepEqual(await sink.positions.stored(never), []);
  await sink.persist(batchOf(events(one, two, more)), never);

  assert.deepEqual(rows(folder, "one"), ["0", "0", "2"]);
  assert.deepEqual(rows(folder, "two"), ["1", "1"]);
});

test("of a batch that was committed in part the sink can tell which events are stored", async (context) => {
  const folder = await killedBetween(context);
  const sink = await sinkIn(context, folder);

  assert.deepEqual(await sink.positions.alreadyStored(batchOf(events(one, two)), never), events(one));
});

test("a position of one file counts for no configuration that could place the rows elsewhere", async (context) => {
  const folder = await killedBetween(context);
  const sink = await sinkIn(context, folder, { data_model: "dm-by-entity-type" });

  await sink.persist(batchOf(events(one, two)), never);

  assert.deepEqual([rows(folder, "one", "t"), rows(folder, "two", "t")], [["0"], ["1"]]);
});

test("a batch for one file records one position and runs no other statement", async (context) => {
  const folder = await tempFolder(context);
  const sink = await sinkIn(context, folder);

  await sink.persist(batchOf(events(one, more)), never);

  const database = new Database(join(folder, "one.db"));
  const kept = database.prepare("SELECT deneb_sink, deneb_channel, deneb_position FROM deneb_positions").raw().all();
  database.close();
  assert.deepEqual(kept, [["sink", "channel", "channel:2"]]);
});
