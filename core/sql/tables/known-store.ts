import type { ColumnNaming } from "../../ngsi/index.js";
import { AgentError, type Logger } from "../../sdk/index.js";
import type { Column } from "../contract/column.js";
import { databaseErrorOf } from "../contract/database-error.js";
import type { Store } from "../contract/driver.js";
import { type Cell, type TableName, tableKey } from "../contract/statement.js";
import { refuseNewerTable, type Tables } from "./known-tables.js";

/** A store with the cache of its tables. */
export interface KnownStore extends Store {
  readonly tables: Tables;
  readonly naming: ColumnNaming;
  /** Whether new columns get the types of their values. */
  readonly nativeTypes: boolean;
  /** Whether new columns of geometries get an index. */
  readonly geometryIndex?: boolean;
  readonly log: Logger;
  /** Told of tables that were created, or got columns. */
  readonly changed?: (name: TableName) => void;
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

const IDENTITY = "integer identity";

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
    if (column !== undefined)
      one.columns.push({ name: column, kind: dialect.columnKind(type), identity: type === IDENTITY });
  }
  for (const { name, columns } of found.values()) tables.learn(name, columns);
}

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
    refuseNewerTable(name, store);
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
      if (attempt === MOST_ATTEMPTS || !dialect.errors.raced(databaseErrorOf(error)))
        throw ofNoEvent(error, name, store);
      tables.forget(name);
    }
  }
}

/** No data of an event is in the definition of such a table: an error of it must not make events dead letters. */
function ofNoEvent(error: unknown, { schema, table }: TableName, { dialect: { errors }, server }: KnownStore): unknown {
  const reason = databaseErrorOf(error);
  if (errors.retryable(reason)) return error;
  const what = `making table ${schema}.${table}, in which the sink keeps its own state: ${errors.explain(reason, server)}`;
  return new AgentError("STORE_UNAVAILABLE", what, { cause: error, retryable: true });
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

/**
 * Whether so much time has passed since `at`, undefined for never, by a clock that may be set. A clock that was set back does not
 * say how much has passed: then it counts as enough, and nothing waits for as long as the clock was set back.
 */
export function hasPassed(millis: number, at: number | undefined, now: number): boolean {
  return at === undefined || now < at || now - at >= millis;
}
