import type { Column } from "../contract/column.js";
import type { Cell } from "../contract/statement.js";
import { type TableName, tableKey } from "../contract/table-name.js";
import type { KnownStore } from "./known-store.js";

/** Asks the store once for all the tables that are not known, and learns which of them exist and with what columns. */
export async function lookUp(names: readonly TableName[], store: KnownStore, signal: AbortSignal): Promise<void> {
  const unknown = names.filter((name) => store.tables.columns(name) === undefined);
  if (unknown.length === 0) return;
  learnAll(await store.driver.read(store.dialect.catalogue(unknown), signal), store);
}

interface Found {
  readonly name: TableName;
  readonly columns: Column[];
}

/** Learns what a catalogue says. */
export function learnAll(catalogue: readonly (readonly Cell[])[], { dialect, tables }: KnownStore): void {
  const found = new Map<string, Found>();
  for (const [database = "", schema, table, column, type = ""] of catalogue) {
    if (schema === undefined) continue;
    if (table === undefined) {
      tables.learnSchema({ database, schema });
      continue;
    }
    const name = { database, schema, table };
    const one = found.get(tableKey(name)) ?? { name, columns: [] };
    found.set(tableKey(name), one);
    if (column !== undefined) one.columns.push({ name: column, kind: dialect.columnKind(type) });
  }
  for (const { name, columns } of found.values()) tables.learn(name, columns);
}
