import { AgentError } from "../../sdk/index.js";
import type { Column, ColumnKind } from "../contract/column.js";
import { RecentMap } from "../contract/recent-map.js";
import { type SchemaName, schemaKey, type TableName, tableKey } from "../contract/statement.js";

const DEFAULT_LIMIT = 100_000;
const MOST_SHARED_MAPS = 10_000;
const MOST_TOO_WIDE = 1000;
/** Milliseconds after which a database is asked again for columns that it refused: somebody may have made room. */
const REFUSED_FOR = 60_000;

/** The columns of a table by the key of their names. */
export type KnownColumns = ReadonlyMap<string, ColumnKind>;

/** The columns in each list as they were found first, by their keys. */
const found = new WeakMap<KnownColumns, ReadonlyMap<string, Column>>();

/** The name of a known column as the table has it: a server that takes a name and its key for one may not find the column by its key. */
export function spelledIn(known: KnownColumns, key: string): string {
  return found.get(known)?.get(key)?.name ?? key;
}

/**
 * The columns as the server finds them: MariaDB before 11.5 takes `i` and `İ` for one column, and finds it by a name of as many bytes only. Columns
 * of the key keep their names. The same list if nothing changes.
 */
export function foundNames(
  names: readonly string[],
  known: KnownColumns | undefined,
  { key, keyOf }: { readonly key: readonly string[]; keyOf(column: string): string },
): readonly string[] {
  if (known === undefined) return names;
  const spelled = names.map((name) => {
    const own = spelledIn(known, keyOf(name));
    return own === name || key.includes(name) || Buffer.byteLength(own) === Buffer.byteLength(name) ? name : own;
  });
  return spelled.every((name, at) => name === names[at]) ? names : spelled;
}

/** Whether the database numbers the rows by a known column. */
export function isIdentityIn(known: KnownColumns, key: string): boolean {
  return found.get(known)?.get(key)?.identity === true;
}

/**
 * A cache of the schemas and tables that exist in the database, with their columns.
 *
 * Many tables have the same columns (entities of one type), so equal lists are shared.
 */
export class Tables {
  readonly #schemas: RecentMap<true>;
  readonly #tables: RecentMap<KnownColumns>;
  readonly #shared = new Map<string, KnownColumns>();
  /** Lists of columns of tables that belong to a sink; many tables share one. */
  readonly own = new WeakSet<KnownColumns>();
  /** Numbers of columns that the database refused a table, and when. */
  readonly #tooWide = new RecentMap<{ readonly columns: number; readonly at: number }>(MOST_TOO_WIDE);
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
    const known: KnownColumns = this.columns(name) ?? new Map();
    const kinds = new Map(known);
    const first = new Map(found.get(known));
    for (const column of columns) {
      const key = this.#keyOf(column.name);
      kinds.set(key, column.kind);
      if (!first.has(key)) first.set(key, column);
    }
    this.#tables.set(tableKey(name), this.#sharing(kinds, first));
  }

  /** The database refused the table this number of columns; `now` in milliseconds of a steady clock. */
  noteTooWide(name: TableName, columns: number, now = performance.now()): void {
    this.#tooWide.set(tableKey(name), { columns, at: now });
  }

  /** The most columns with which the database may be asked for the table; infinite where it refused none lately. */
  mostColumns(name: TableName, now = performance.now()): number {
    const refused = this.#tooWide.get(tableKey(name));
    return refused === undefined || now - refused.at >= REFUSED_FOR ? Number.POSITIVE_INFINITY : refused.columns - 1;
  }

  forget(name: TableName): void {
    this.#tables.delete(tableKey(name));
    this.#schemas.delete(schemaKey(name));
  }

  #sharing(columns: KnownColumns, first: ReadonlyMap<string, Column>): KnownColumns {
    const signature = [...columns]
      .map(([key, kind]) => `${first.get(key)?.name}\0${kind}${first.get(key)?.identity === true ? " identity" : ""}`)
      .sort()
      .join("\0");
    const shared = this.#shared.get(signature);
    if (shared !== undefined) return shared;

    if (this.#shared.size >= MOST_SHARED_MAPS) this.#shared.clear();
    this.#shared.set(signature, columns);
    found.set(columns, first);
    return columns;
  }
}

/** Version of the tables in which a sink keeps its own state. Those of this version have no mark. */
const VERSION = 1;
/** A later version that this one must not write beside marks a table with a column of this name and its number. */
const MARK = "deneb_format_";

/**
 * Throws code `TABLE_OF_NEWER_VERSION` for a table of the sink that a later version has marked as its own. The columns of such
 * tables are looked up anyway, so that this costs no query.
 */
export function refuseNewerTable(name: TableName, { tables }: { readonly tables: Tables }): void {
  for (const column of tables.columns(name)?.keys() ?? []) {
    if (!column.startsWith(MARK)) continue;
    const found = Number(column.slice(MARK.length));
    if (found <= VERSION) continue;
    // Looked up again with the next try.
    tables.forget(name);
    throw newerTable(name, found);
  }
}

export const NEWER_TABLE = "TABLE_OF_NEWER_VERSION";

function newerTable({ database, schema, table }: TableName, found: number): AgentError {
  const path = [...new Set([database, schema]), table].filter((part) => part !== "").join(".");
  const remedy =
    "start the later version of Deneb again, or use another database; the table is unchanged, and events wait";
  const message = `using table ${path}: it has version ${found} of its format, and this agent knows version ${VERSION}; ${remedy}`;
  return new AgentError(NEWER_TABLE, message, { retryable: true });
}
