import type { Column } from "../contract/column.js";
import { databaseErrorOf } from "../contract/database-error.js";
import type { TableName } from "../contract/statement.js";
import { type KnownStore, lookUp } from "./known-store.js";

const MOST_ATTEMPTS = 5;

/** A table in which the sink keeps its own state. */
export interface OwnTable {
  readonly name: TableName;
  readonly columns: readonly Column[];
  readonly key: readonly string[];
}

/** Creates the table, or the columns that an earlier version did not have. */
export async function makeOwnTable(table: OwnTable, store: KnownStore, signal: AbortSignal): Promise<void> {
  const { tables, dialect, driver } = store;
  const { name } = table;
  for (let attempt = 1; ; attempt++) {
    await lookUp([name], store, signal);
    const lacking = lackingOf(table, store);
    if (lacking.length === 0) return;
    const made = tables.columns(name) !== undefined;
    try {
      // Separate from the rows: MySQL commits implicitly at every definition.
      await driver.write(
        made ? dialect.addColumns(name, lacking) : [...dialect.createSchema(name), ...dialect.createTable(table)],
        signal,
      );
      tables.learn(name, table.columns);
    } catch (error) {
      // All sinks of a database share this table, so another one may create it at the same time.
      if (attempt === MOST_ATTEMPTS || !dialect.errors.raced(databaseErrorOf(error))) throw error;
      tables.forget(name);
    }
  }
}

/** Whether the table exists; if so, its missing columns are added. */
export async function findOwnTable(table: OwnTable, store: KnownStore, signal: AbortSignal): Promise<boolean> {
  await lookUp([table.name], store, signal);
  if (store.tables.columns(table.name) === undefined) return false;
  await makeOwnTable(table, store, signal);
  return true;
}

function lackingOf({ name, columns }: OwnTable, { tables, dialect }: KnownStore): readonly Column[] {
  const known = tables.columns(name);
  return columns.filter((column) => known?.has(dialect.columnKey(column.name)) !== true);
}
