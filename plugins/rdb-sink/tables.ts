import { RecentMap } from "./recent-map.js";
import { type TableName, tableKey } from "./table-name.js";

const DEFAULT_LIMIT = 100_000;
const MOST_SHARED_SETS = 10_000;

/**
 * What is known to exist in the database: schemas, and tables with their columns.
 *
 * Most tables have the columns of many others (entities of one type), so equal sets of columns are kept once.
 */
export class Tables {
  readonly #schemas: RecentMap<true>;
  readonly #tables: RecentMap<ReadonlySet<string>>;
  readonly #sets = new Map<string, ReadonlySet<string>>();

  constructor(limit = DEFAULT_LIMIT) {
    this.#schemas = new RecentMap(limit);
    this.#tables = new RecentMap(limit);
  }

  hasSchema(schema: string): boolean {
    return this.#schemas.get(schema) === true;
  }

  /** Undefined for a table that is not known. */
  columns(name: TableName): ReadonlySet<string> | undefined {
    return this.#tables.get(tableKey(name));
  }

  learnSchema(schema: string): void {
    this.#schemas.set(schema, true);
  }

  /** Adds columns to those known of the table. */
  learn(name: TableName, columns: readonly string[]): void {
    const known = this.columns(name) ?? [];
    this.#tables.set(tableKey(name), this.#shared(new Set([...known, ...columns])));
  }

  forget(name: TableName): void {
    this.#tables.delete(tableKey(name));
    this.#schemas.delete(name.schema);
  }

  #shared(columns: ReadonlySet<string>): ReadonlySet<string> {
    const signature = [...columns].sort().join("\0");
    const shared = this.#sets.get(signature);
    if (shared !== undefined) return shared;

    if (this.#sets.size >= MOST_SHARED_SETS) this.#sets.clear();
    this.#sets.set(signature, columns);
    return columns;
  }
}
