import type { ColumnNaming } from "../../ngsi/index.js";
import type { Logger } from "../../sdk/index.js";
import type { Column, ColumnKind } from "../contract/column.js";
import type { Store } from "../contract/driver.js";
import { RecentMap } from "../contract/recent-map.js";
import { type Cell, type SchemaName, schemaKey, type TableName, tableKey } from "../contract/statement.js";

const DEFAULT_LIMIT = 100_000;
const MOST_SHARED_MAPS = 10_000;

/** The columns of a table by the key of their names. */
export type KnownColumns = ReadonlyMap<string, ColumnKind>;

/**
 * A cache of the schemas and tables that exist in the database, with their columns.
 *
 * Many tables have the same columns (entities of one type), so equal lists are shared.
 */
export class Tables {
  readonly #schemas: RecentMap<true>;
  readonly #tables: RecentMap<KnownColumns>;
  readonly #shared = new Map<string, KnownColumns>();
  readonly #keyOf: (column: string) => string;

  constructor(keyOf: (column: string) => string, limit = DEFAULT_LIMIT) {
    this.#keyOf = keyOf;
    this.#schemas = new RecentMap(limit);
    this.#tables = new RecentMap(limit);
  }

  hasSchema(schema: SchemaName): boolean {
    return this.#schemas.get(schemaKey(schema)) === true;
  }

  /** Undefined for an unknown table. */
  columns(name: TableName): KnownColumns | undefined {
    return this.#tables.get(tableKey(name));
  }

  /** The kind of a column; undefined if table or column is unknown. */
  kind(name: TableName, column: string): ColumnKind | undefined {
    return this.columns(name)?.get(this.#keyOf(column));
  }

  learnSchema(schema: SchemaName): void {
    this.#schemas.set(schemaKey(schema), true);
  }

  /** Adds columns to the known ones of a table. */
  learn(name: TableName, columns: readonly Column[]): void {
    const known = this.columns(name) ?? [];
    const added = columns.map(({ name: column, kind }) => [this.#keyOf(column), kind] as const);
    this.#tables.set(tableKey(name), this.#sharing(new Map([...known, ...added])));
  }

  forget(name: TableName): void {
    this.#tables.delete(tableKey(name));
    this.#schemas.delete(schemaKey(name));
  }

  #sharing(columns: KnownColumns): KnownColumns {
    const signature = [...columns]
      .map(([column, kind]) => `${column}\0${kind}`)
      .sort()
      .join("\0");
    const shared = this.#shared.get(signature);
    if (shared !== undefined) return shared;

    if (this.#shared.size >= MOST_SHARED_MAPS) this.#shared.clear();
    this.#shared.set(signature, columns);
    return columns;
  }
}

/** A store with the cache of its tables. */
export interface KnownStore extends Store {
  readonly tables: Tables;
  readonly naming: ColumnNaming;
  /** Whether new columns get the types of their values. */
  readonly nativeTypes: boolean;
  readonly log: Logger;
}

/** Looks up all unknown tables in one query, and caches those that exist. */
export async function lookUp(names: readonly TableName[], store: KnownStore, signal: AbortSignal): Promise<void> {
  const unknown = names.filter((name) => store.tables.columns(name) === undefined);
  if (unknown.length === 0) return;
  learnAll(await store.driver.read(store.dialect.catalogue(unknown), signal), store);
}

interface Found {
  readonly name: TableName;
  readonly columns: Column[];
}

/** Caches the result of a catalogue query. */
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
