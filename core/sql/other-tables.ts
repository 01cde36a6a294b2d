import { columnName } from "../ngsi/index.js";
import { type Batch, codeOf, type Event } from "../sdk/index.js";
import { databaseErrorOf } from "./contract/database-error.js";
import { isUnexpectedChanges } from "./contract/driver.js";
import { schemaKey, type TableName } from "./contract/statement.js";
import type { RowBuilder } from "./row-builder.js";
import type { TableBatch } from "./rows/grouping.js";
import { columnLayoutColumns } from "./rows/layout.js";
import type { StepOfBatch, StepWriter } from "./step-writer.js";
import { type KnownStore, lookUp } from "./tables/known-store.js";
import type { ListedStore } from "./tables/make-missing.js";

const MOST_OF_A_BATCH = 16;

interface OtherTablesParts {
  readonly store: ListedStore;
  readonly rowBuilder: Pick<RowBuilder, "tables">;
  readonly writer: Pick<StepWriter, "takes" | "lately">;
}

interface Refusing extends Pick<Batch, "position" | "events"> {
  /** The database to which no connection can be opened. */
  readonly closed?: string | undefined;
}

/**
 * Tells an error of one table, schema or file from one of the whole store: rows of other tables are written and rolled back until
 * the store takes one of them.
 */
export class OtherTables {
  readonly #parts: OtherTablesParts;
  constructor(parts: OtherTablesParts) {
    this.#parts = parts;
  }

  /** Whether the store takes rows of any other table now than those that refuse the batch, or than those of a database that is closed. */
  async takes({ position, events, closed }: Refusing, signal: AbortSignal): Promise<boolean> {
    for await (const tables of this.#candidates(events, signal)) {
      if (tables.some(({ name }) => this.#databaseOf(name) === closed)) continue;
      const taken = await this.#areTaken({ position, tables, later: [], all: tables }, signal);
      if (taken !== undefined) return taken;
    }
    return false;
  }

  #databaseOf({ database }: TableName): string {
    const { dialect, server } = this.#parts.store;
    const unit = dialect.commitUnit({ database, schema: "" });
    return unit.database === "" ? server.database : unit.database;
  }

  /** Rows that were stored lately, then some of the batch, then one of the batch for tables that an earlier run listed. */
  async *#candidates(events: readonly Event[], signal: AbortSignal): AsyncGenerator<readonly TableBatch[]> {
    const { store, writer } = this.#parts;
    const { lately } = writer;
    for (const event of lately.toReversed()) {
      const tables = this.#tables([event]);
      // One that was dropped is not made again for this.
      if (await areKnown(tables, store, signal)) yield tables;
    }
    const failed = this.#tables(events);
    for (const table of bySchema(failed).slice(0, MOST_OF_A_BATCH)) {
      const event = table.placed.at(-1)?.event;
      if (event !== undefined) yield this.#tables([event]);
    }
    const [row] = failed;
    if (row === undefined || lately.length > 0) return;
    const listed = await listedTables(store, signal);
    for (const { name } of bySchema(listed).slice(0, MOST_OF_A_BATCH)) {
      const tables = [fixedRow(row, name, store)];
      if (await areKnown(tables, store, signal)) yield tables;
    }
  }

  /** Undefined if it says nothing about others; false for an error of the whole store. */
  async #areTaken(write: StepOfBatch, signal: AbortSignal): Promise<boolean | undefined> {
    const { store, writer } = this.#parts;
    if (write.tables.length === 0) return undefined;
    try {
      return (await writer.takes(write, signal)) || undefined;
    } catch (error) {
      // Its position is not known.
      if (isUnexpectedChanges(error)) return undefined;
      const { errors } = store.dialect;
      const reason = databaseErrorOf(error);
      const isOfPlace = errors.tooSlow?.(reason) !== true && errors.ofOnePlace?.(reason) === true;
      const isOfAll = codeOf(error) !== undefined && errors.retryable(reason) && !isOfPlace;
      return isOfAll ? false : undefined;
    }
  }

  #tables(events: readonly Event[]): readonly TableBatch[] {
    try {
      return this.#parts.rowBuilder.tables(events);
    } catch {
      // An event that can have no rows; it is refused by itself.
      return [];
    }
  }
}

async function areKnown(tables: readonly TableBatch[], store: KnownStore, signal: AbortSignal): Promise<boolean> {
  const names = tables.map(({ name }) => name);
  await lookUp(names, store, signal).catch(() => undefined);
  return names.every((name) => store.tables.columns(name) !== undefined);
}

async function listedTables({ register }: ListedStore, signal: AbortSignal): Promise<readonly Named[]> {
  try {
    const { own } = (await register?.tables(signal)) ?? { own: [] };
    return own.map((name) => ({ name }));
  } catch {
    // The list cannot be read.
    return [];
  }
}

interface Named {
  readonly name: TableName;
}

/** One of each schema, then the others. */
function bySchema<Of extends Named>(tables: readonly Of[]): readonly Of[] {
  const firsts = new Map(tables.map((table) => [schemaKey(table.name), table] as const));
  return [...new Set([...firsts.values(), ...tables])];
}

/** The last row of a table as one of another table, in the columns that all tables of a sink have. */
function fixedRow(table: TableBatch, name: TableName, { naming, dialect }: KnownStore): TableBatch {
  const fixed = new Set(columnLayoutColumns.ld.map((column) => dialect.columnKey(columnName(column, naming))));
  const kept = [...table.columns.keys()].filter((at) => fixed.has(dialect.columnKey(table.columns[at] ?? "")));
  const only = <T>(row: readonly T[] | undefined) => kept.map((at) => row?.[at]);
  return {
    name,
    subject: table.subject,
    key: [],
    columns: kept.map((at) => table.columns[at] ?? ""),
    rows: [only(table.rows.at(-1))],
    values: () => [only(table.values().at(-1))],
    valuesOf: (column) => table.valuesOf(kept[column] ?? column).slice(-1),
    native: table.native,
    placed: table.placed.slice(-1),
  };
}
