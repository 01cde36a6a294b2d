import { createHash } from "node:crypto";
import { lowerCase, shorten } from "../../ngsi/index.js";
import type { Context, StoredTable } from "../../sdk/index.js";
import { schemaKey } from "../contract/statement.js";
import type { ViewSql } from "../contract/views.js";

/** The names of the three views of an entity type. */
interface ViewNames {
  readonly all: string;
  readonly latest: string;
  readonly tidy: string;
}

/**
 * Names of views by entity type, for types in the order in which they were first stored: the first one of several with
 * the same name keeps it, the others get a hash. Tables of entities never begin with `deneb_`.
 */
export function viewNames(types: readonly string[]): ReadonlyMap<string, ViewNames> {
  const taken = new Set<string>();
  const names = new Map<string, ViewNames>();
  for (const type of types) {
    if (names.has(type)) continue;
    const short = shortOf(type);
    const name = taken.has(short) ? `${short}_${hash(type)}` : short;
    taken.add(name);
    names.set(type, {
      all: shorten(`deneb_all_${name}`),
      latest: shorten(`deneb_latest_${name}`),
      tidy: shorten(`deneb_tidy_${name}`),
    });
  }
  return names;
}

/** The tables of the sink whose entity type has too many tables for views say so. */
export function withViewNotes(
  tables: readonly StoredTable[],
  { name: sink }: Pick<Context, "name">,
  sql: Pick<ViewSql, "mostTables"> | undefined,
): readonly StoredTable[] {
  const typeOf = (table: StoredTable) =>
    table.sink === sink && table.kind === "history" && table.entityType !== undefined
      ? `${schemaKey(table)}\0${table.entityType}`
      : undefined;
  const found = new Map<string, Set<string>>();
  for (const table of tables) {
    const type = typeOf(table);
    if (type !== undefined) found.set(type, (found.get(type) ?? new Set()).add(table.table));
  }
  return tables.map((table) => {
    const count = found.get(typeOf(table) ?? "")?.size ?? 0;
    const most = sql?.mostTables ?? Number.POSITIVE_INFINITY;
    return count > most ? { ...table, note: tooMany(table, count, most) } : table;
  });
}

function tooMany({ entityType }: StoredTable, count: number, most: number): string {
  const type = `type "${entityType}" has ${count} tables, and views are made of at most ${most}`;
  return `no views: ${type}; data_model = dm-by-entity-type stores the type in one table`;
}

/** The last part of an IRI; letters, digits and underscores. */
function shortOf(type: string): string {
  const last = /^[a-z][a-z0-9+.-]*:/i.test(type) ? (type.split(/[/#:]/).findLast((part) => part !== "") ?? type) : type;
  const plain = lowerCase(last).replaceAll(/[^a-z0-9_]/g, "_");
  return plain === "" ? "_" : plain;
}

function hash(type: string): string {
  return createHash("sha256").update(type).digest("hex").slice(0, 8);
}
