import type { SchemaName } from "../contract/statement.js";
import type { KnownStore } from "./known-store.js";
import { readLister } from "./lister.js";
import { type Listing, SCHEMA, SINK, TABLE } from "./register-rows.js";

/** A table and the entity type that it keeps. */
export interface ListedType extends Pick<Listing, "name" | "kind"> {
  readonly entityType: string;
}

/**
 * The tables of a schema that sinks of this name have listed with their types, the oldest first. Views have one name for all
 * agents, so they are over the tables of all.
 */
export async function listedTypes(
  of: SchemaName,
  { sink, store }: { readonly sink: string; readonly store: KnownStore },
  signal: AbortSignal,
): Promise<readonly ListedType[]> {
  const name = store.dialect.registerTable(of);
  const columns = [TABLE, "kind", "entity_type", "known_since", SINK];
  const question = store.dialect.selectColumns(columns, { name, key: [SCHEMA], cells: [of.schema] });
  const rows = await store.driver.read([question], signal);
  const found = new Map<string, ListedType>();
  for (const [table = "", kind, entityType, , by = ""] of [...rows].sort(
    ([a = "", , , one = ""], [b = "", , , other = ""]) => (one + a < other + b ? -1 : 1),
  )) {
    if (readLister(by).sink !== sink || entityType === undefined) continue;
    // A table keeps the place of its first row, and the type of the latest.
    if (kind === "history" || kind === "last data")
      found.set(table, { name: { database: of.database, schema: of.schema, table }, kind, entityType });
  }
  return [...found.values()];
}
