import type { Column, ColumnKind } from "../contract/column.js";
import { RecentMap } from "../contract/recent-map.js";
import { type SchemaName, schemaKey, type TableName, tableKey } from "../contract/table-name.js";

const DEFAULT_LIMIT = 100_000;
const MOST_SHARED_MAPS = 10_000;

/** The columns of a table by the key of their names. */
export type KnownColumns = ReadonlyMap<string, ColumnKind>;

/**
 * What is known to exist in the database: schemas, and tables with their columns.
 *
 * Most tables have the columns of many others (entities of one type), so equal lists of columns are kept once.
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

  /** Undefined for a table that is not known. */
  columns(name: TableName): KnownColumns | undefined {
    return this.#tables.get(tableKey(name));
  }

  /** The kind of a column; undefined when table or column is not known. */
  kind(name: TableName, column: string): ColumnKind | undefined {
    return this.columns(name)?.get(this.#keyOf(column));
  }

  learnSchema(schema: SchemaName): void {
    this.#schemas.set(schemaKey(schema), true);
  }

  /** Adds columns to those known of the table. */
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
