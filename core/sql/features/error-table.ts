import { lowerCase, nameLimits, shorten } from "../../ngsi/index.js";
import { AgentError } from "../../sdk/index.js";
import type { Column, NativeValue } from "../contract/column.js";
import { databaseErrorOf } from "../contract/database-error.js";
import type { Store } from "../contract/driver.js";
import type { SqlConfig } from "../contract/schema.js";
import type { SchemaName, Statement, TableName } from "../contract/statement.js";
import { type KnownStore, lookUp } from "../tables/known-store.js";

const TIME = "timestamp";
export const errorColumns: readonly Column[] = [
  { name: TIME, kind: "time" },
  { name: "error", kind: "longtext" },
  { name: "query", kind: "longtext" },
];
// A text column of MySQL takes 65,535 bytes, and a character at most four.
const MOST_CHARACTERS = 16_000;
const MOST_ATTEMPTS = 3;
const ROWS_AT_ONCE = 5000;
/** Of one schema. */
export const OTHER_TABLE = "TABLE_NOT_OURS";
/** Of one row: the next one may be stored. */
export const REFUSED_ROW = "DATA_REFUSED";

/** A write that a database refused. */
export interface RefusedWrite {
  /** The schema of the event; throws if it has none. */
  of(): SchemaName;
  /** ISO 8601 in UTC, with microseconds. */
  readonly time: string;
  readonly error: unknown;
  /** The statements of the write; none if the event had no row. */
  statements(): readonly Statement[];
}

/** The error table of each schema, `<database>_error_log`, with the latest refused writes. */
export class ErrorTable {
  readonly #store: KnownStore;
  readonly #most: number;

  constructor(config: Pick<SqlConfig, "max_latest_errors">, store: KnownStore) {
    this.#store = store;
    this.#most = config.max_latest_errors;
  }

  /** Adds a row and deletes the oldest excess rows. Creates the table if it does not exist. */
  async add(write: RefusedWrite, signal: AbortSignal): Promise<void> {
    const { dialect, tables, driver } = this.#store;
    const name = errorTableIn(write.of(), this.#store);
    const values = valuesOf(write);
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#make(name, signal);
        const columns = this.#columns(name);
        const rows = [values.map((value, index) => dialect.cell(columns[index]?.kind ?? "text", value))];
        await driver.write(dialect.insert({ name, columns, rows }), signal);
        break;
      } catch (error) {
        const databaseError = databaseErrorOf(error);
        // Another process dropped it, or created it at the same time.
        const isStale = dialect.errors.missing(databaseError) || dialect.errors.raced(databaseError);
        if (attempt === MOST_ATTEMPTS || !isStale)
          throw dialect.errors.retryable(databaseError) ? error : refusedRow(error);
        tables.forget(name);
      }
    }
    try {
      await this.#cap(name, signal);
    } catch (error) {
      // Dropped after the row was written: there is nothing to delete, and the next row creates it again.
      if (!dialect.errors.missing(databaseErrorOf(error))) throw error;
      tables.forget(name);
    }
  }

  /** With the kinds of an existing table, or those of a new one. */
  #columns(name: TableName): readonly Column[] {
    return errorColumns.map((column) => ({
      ...column,
      kind: this.#store.tables.kind(name, column.name) ?? column.kind,
    }));
  }

  async #make(name: TableName, signal: AbortSignal): Promise<void> {
    const { tables, dialect, driver } = this.#store;
    if (tables.columns(name) !== undefined) return this.#refuseOther(name);
    await lookUp([name], this.#store, signal);
    if (tables.columns(name) !== undefined) return this.#refuseOther(name);
    // No key: two errors may occur at the same time.
    const made = dialect.createTable({ name, columns: errorColumns, key: [] });
    await driver.write([...dialect.createSchema(name), ...made], signal);
    tables.learn(name, errorColumns);
  }

  /** A history can have the name first: an entity may be called so. */
  #refuseOther(name: TableName): void {
    const { tables } = this.#store;
    if (errorColumns.every((column) => tables.kind(name, column.name) !== undefined)) return;
    tables.forget(name);
    const message = `table "${name.table}" of schema "${name.schema}" has not the columns of an error table`;
    throw new AgentError(OTHER_TABLE, message, { retryable: false });
  }

  async #cap(name: TableName, signal: AbortSignal): Promise<void> {
    const { dialect, driver, tables } = this.#store;
    const history = { name, time: { name: TIME, kind: tables.kind(name, TIME) ?? "time" } } as const;
    const [row] = await driver.read([dialect.count(history)], signal);
    const excess = Math.min(Number(row?.[0] ?? 0) - this.#most, ROWS_AT_ONCE);
    if (excess > 0) await driver.write([dialect.deleteExcess(history, this.#most, excess)], signal);
  }
}

function refusedRow(cause: unknown): AgentError {
  const message =
    "it refuses a row, as a table whose key is the time in whole seconds does with a second one in a second";
  return new AgentError(REFUSED_ROW, message, { cause, retryable: false });
}

/** The error table of a schema. */
export function errorTableIn({ database, schema }: SchemaName, { dialect, server }: Store): TableName {
  const base = { postgresql: database === "" ? server.database : database, mysql: schema, sqlite: schema };
  const full = `${base[dialect.database]}_error_log`;
  const folded = dialect.database === "mysql" ? full : lowerCase(full);
  // No reserved name ends in this way.
  return dialect.allowed({ database, schema, table: shorten(folded, nameLimits[dialect.database]) });
}

/** In the order of the columns. */
function valuesOf({ time, error, statements }: RefusedWrite): readonly NativeValue[] {
  const query = statements().flatMap(({ text, runs }) => runs.map((run) => `${text.trim()} ${JSON.stringify(run)}`));
  return [{ kind: "time", text: time, plain: time }, textValue(messageOf(error)), textValue(query.join(";\n"))];
}

/** The message of the database itself if there is one: its address does not concern readers of the table. */
function messageOf(error: unknown): string {
  const databaseError = databaseErrorOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
  return databaseError.code === undefined ? databaseError.message : `${databaseError.code}: ${databaseError.message}`;
}

/** In JSON a NUL is an escape sequence; names and messages may contain it. */
function textValue(text: string): NativeValue {
  const taken = text.replaceAll("\0", "\\u0000");
  const plain = taken.length <= MOST_CHARACTERS ? taken : `${taken.slice(0, MOST_CHARACTERS - 1)}…`;
  return { kind: "text", text: plain, plain };
}
