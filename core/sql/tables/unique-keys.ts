import { AgentError } from "../../sdk/index.js";
import { type Cell, type TableName, tableKey } from "../contract/statement.js";
import type { TableBatch } from "../rows/grouping.js";
import type { KnownStore } from "./known-store.js";

type Keyed = Pick<TableBatch, "name" | "key">;

/** The tables of last data of which nothing is known yet; none where the database itself refuses rows for another key. */
export function unknownKeyed(batches: readonly Keyed[], { tables, dialect }: KnownStore): readonly Keyed[] {
  if (dialect.uniqueKeys === undefined) return [];
  return batches.filter(({ name, key }) => key.length > 0 && tables.columns(name) === undefined);
}

/**
 * Throws code `DATA_REFUSED` for a table that exists and has another unique key than its rows: each of them would change the row
 * that the key of the table finds, which may be that of another attribute.
 */
export async function refuseOtherKeys(
  batches: readonly Keyed[],
  { tables, dialect, driver }: KnownStore,
  signal: AbortSignal,
): Promise<void> {
  const existing = batches.filter(({ name }) => tables.columns(name) !== undefined);
  if (existing.length === 0 || dialect.uniqueKeys === undefined) return;
  const found = keysOf(await driver.read(dialect.uniqueKeys(existing.map(({ name }) => name)), signal));
  for (const { name, key } of existing) {
    const wanted = new Set(key.map(dialect.columnKey));
    const keys = (found.get(tableKey(name)) ?? []).map((columns) => columns.map(dialect.columnKey));
    if (fits(keys, wanted)) continue;
    // The next event looks it up again: the operator may have changed it.
    tables.forget(name);
    throw otherKey(name, key);
  }
}

/** Whether one of the keys has these columns, and none only some of them. */
function fits(keys: readonly (readonly string[])[], wanted: ReadonlySet<string>): boolean {
  const within = keys.filter((columns) => columns.every((column) => wanted.has(column)));
  return within.length > 0 && within.every(({ length }) => length === wanted.size);
}

/** By table, the columns of each of its unique keys. */
function keysOf(rows: readonly (readonly Cell[])[]): ReadonlyMap<string, readonly (readonly string[])[]> {
  const tables = new Map<string, Map<string, string[]>>();
  for (const [database = "", schema = "", table = "", index = "", column = ""] of rows) {
    const name = tableKey({ database, schema, table });
    const keys = tables.get(name) ?? new Map<string, string[]>();
    tables.set(name, keys.set(index, [...(keys.get(index) ?? []), column]));
  }
  return new Map([...tables].map(([name, keys]) => [name, [...keys.values()]]));
}

function otherKey({ schema, table }: TableName, key: readonly string[]): AgentError {
  const message = `storing into table "${table}" of schema "${schema}": it has no unique key over (${key.join(", ")}), or another one over a part of it`;
  const remedy =
    "as after a change of last_data_unique_key or attr_persistence; set another last_data_table_suffix, so that new tables are made, or give it that key in place of its own";
  return new AgentError("DATA_REFUSED", `${message}, ${remedy}`, { retryable: false });
}
