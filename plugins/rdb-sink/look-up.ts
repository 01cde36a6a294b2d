import type { KnownStore } from "./known-store.js";
import type { Cell } from "./statement.js";
import { type TableName, tableKey } from "./table-name.js";
import type { Tables } from "./tables.js";

/** Asks the store once for all the tables that are not known, and learns which of them exist and with what columns. */
export async function lookUp(names: readonly TableName[], store: KnownStore, signal: AbortSignal): Promise<void> {
  const unknown = names.filter((name) => store.tables.columns(name) === undefined);
  if (unknown.length === 0) return;
  learnAll(await store.driver.read(store.dialect.catalogue(unknown), signal), store.tables);
}

interface Found {
  readonly name: TableName;
  readonly columns: string[];
}

function learnAll(catalogue: readonly (readonly Cell[])[], tables: Tables): void {
  const found = new Map<string, Found>();
  for (const [schema, table, column] of catalogue) {
    if (schema === undefined) continue;
    if (table === undefined) {
      tables.learnSchema(schema);
      continue;
    }
    const name = { schema, table };
    const one = found.get(tableKey(name)) ?? { name, columns: [] };
    found.set(tableKey(name), one);
    if (column !== undefined) one.columns.push(column);
  }
  for (const { name, columns } of found.values()) tables.learn(name, columns);
}
