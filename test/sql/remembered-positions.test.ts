import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Event } from "../../core/sdk/index.js";
import { Positions } from "../../core/sql/features/positions/positions.js";
import { groupedByTable } from "../../core/sql/rows/grouping.js";
import { Tables } from "../../core/sql/tables/known-tables.js";
import { databases } from "../../plugins/rdb-sink/databases.js";
import { configOf, entity, eventOf, never } from "../plugins/rdb-sink/sinks.js";
import { at } from "../support/position.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";

/** What an agent does with positions; each schema has a commit unit of its own. */
function agentIn(context: TestContext, folder: string, run: string) {
  const now = () => new Date(0);
  const { log } = recordingLog();
  const config = configOf({ rdb_dialect: "sqlite", rdb_folder: folder });
  const store = databases.sqlite.open(config, { name: "sink", log, dataDir: "", run, now });
  context.after(() => store.driver.close(never));
  const { dialect } = store;
  const naming = { database: dialect.database, attributes: "encoded", shortNames: false, lowercase: false } as const;
  const tables = new Tables(dialect.columnKey);
  const known = { ...store, naming, nativeTypes: false, tables, log };
  const positions = new Positions({ sink: "sink", settingsHash: "s", run, now, mostRemembered: 4 }, known);
  const open = async (schema: string, events: readonly Event[]) => {
    const placed = placedIn(schema, events);
    const batch = { events, position: at(`c:${events.length}`, events) };
    const stored = await positions.covered(batch, placed, never);
    const covered = new Set(stored.flatMap((one) => one.placed.map(({ event }) => event)));
    return { placed, position: batch.position, left: events.filter((event) => !covered.has(event)) };
  };
  return {
    open: async (schema: string, events: readonly Event[]) => (await open(schema, events)).left,
    persist: async (schema: string, events: readonly Event[]) => {
      const { placed, position, left } = await open(schema, events);
      if (left.length === 0) return left;
      const step = { tables: placed, later: [], all: placed };
      const moves = await positions.statements(position, step, never);
      await store.driver.write(moves.statements, never);
      moves.written();
      return left;
    },
  };
}

function placedIn(schema: string, events: readonly Event[]) {
  const name = { database: "", schema, table: "t" };
  const row = {
    name,
    subject: "t",
    columns: [],
    attributes: [],
    cells: [],
    native: [],
    values: () => [],
    removed: false,
  };
  return groupedByTable(
    events.map((event) => ({ ...row, event })),
    (column) => column,
  );
}

test("more commit units than are remembered do not hide what another agent has stored", async (context) => {
  const folder = await tempFolder(context);
  const [one, two] = [agentIn(context, folder, "one"), agentIn(context, folder, "two")];
  const events = ["1", "2"].map((a) => eventOf(entity("urn:f:1", { a }), "s"));
  assert.deepEqual(await one.persist("first", events.slice(0, 1)), events.slice(0, 1));

  for (const schema of ["second", "third", "fourth"]) await one.open(schema, events);
  assert.deepEqual(await two.persist("first", events), events.slice(1));

  assert.deepEqual(await one.persist("first", events), []);
});
