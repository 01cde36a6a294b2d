import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { namingOf } from "../../core/sql/contract/schema.js";
import type { Statement } from "../../core/sql/contract/statement.js";
import { Tables } from "../../core/sql/tables/known-tables.js";
import { factColumns } from "../../core/sql/tables/register-rows.js";
import { TableFacts } from "../../core/sql/tables/table-facts.js";
import { databases } from "../../plugins/rdb-sink/databases.js";
import { configOf, entity, eventOf } from "../plugins/rdb-sink/sinks.js";
import { recordingLog } from "../support/recording-log.js";

test("facts of each register are tried again, also while others are refused for longer", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const refused = new Set(["a", "b"]);
  const written: string[] = [];
  const { own, note } = factsOver(async (schema) => {
    if (refused.has(schema)) throw new Error("refused");
    written.push(schema);
  });
  const wait = async (millis: number) => {
    context.mock.timers.tick(millis);
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  };

  note("a");
  await wait(2000);
  await wait(10_000);
  note("b");
  await wait(2000);
  refused.delete("b");
  await wait(10_000);
  const first = [...written];
  refused.delete("a");
  await wait(8000);

  assert.deepEqual([first, written], [["b"], ["b", "a"]]);
  await own.stop(AbortSignal.abort());
});

/** Facts over a store with a register in each database, which `write` is given the name of. */
function factsOver(write: (database: string) => Promise<void>) {
  const { log } = recordingLog();
  const now = () => new Date();
  const opened = databases.postgresql.open(configOf({}), { name: "s", log, dataDir: "", run: "run", now });
  const register = (database: string) => opened.dialect.registerTable({ database, schema: "s" });
  const columnsOf = (database: string) => {
    const { schema, table } = register(database);
    return factColumns.map(({ name }) => [database, schema, table, name, "text"]);
  };
  const store = {
    ...opened,
    driver: {
      ...opened.driver,
      read: async () => ["a", "b"].flatMap(columnsOf),
      write: async (statements: readonly Statement[]) => {
        for (const { at } of statements) await write(at.database);
        return 0;
      },
    },
    naming: namingOf(configOf({}), "postgresql"),
    nativeTypes: false,
    tables: new Tables((column) => column),
    log,
  };
  const own = new TableFacts(store, { agent: "a", name: "s", now }, { dataModel: "dm-by-entity" });
  const note = (database: string) => {
    const event = eventOf(entity("e", { a: "1" }), "s");
    const name = { database, schema: "s", table: "t" };
    const row = { columns: [], cells: [], values: () => [], native: [], attributes: [] };
    const batch = { name, subject: "e", key: [], columns: [], rows: [], values: () => [], valuesOf: () => [] };
    own.note([{ ...batch, native: new Set(), placed: [{ ...row, name, subject: "e", event, removed: false }] }]);
  };
  return { own, note };
}
