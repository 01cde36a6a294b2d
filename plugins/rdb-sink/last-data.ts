import { columnName, type Naming, nameLimits, shorten } from "deneb/ngsi";
import { AgentError } from "deneb/sdk";
import type { Column } from "./column.js";
import type { Dialect } from "./dialects/dialect.js";
import type { FittedRows } from "./fitting.js";
import { groupedByTable, type PlacedRow, type TableBatch } from "./grouping.js";
import type { KnownStore } from "./known-store.js";
import { overflowColumn } from "./layouts/column-names.js";
import { freeTable } from "./reserved-names.js";
import type { SqlConfig } from "./sql/schema.js";
import { type Cell, joinedRuns, type Statement } from "./statement.js";
import { type TableName, tableKey } from "./table-name.js";

/** Keeps, beside a table of history, a table with one row for each entity: its last values. */
export class LastData {
  readonly #naming: Naming;
  readonly #dialect: Pick<Dialect, "allowed" | "database">;
  readonly #suffix: string;
  /** Tells entities apart. */
  readonly #entityKey: readonly string[];
  /** Tells rows apart. */
  readonly #key: readonly string[];
  readonly #time: string;
  readonly #timeFormat: string | undefined;

  constructor(config: SqlConfig, naming: Naming, dialect: Pick<Dialect, "allowed" | "database">) {
    this.#naming = naming;
    this.#dialect = dialect;
    this.#suffix = config.last_data_table_suffix;
    this.#entityKey = config.last_data_unique_key.map((column) => columnName(column, naming));
    this.#key = [
      ...this.#entityKey,
      ...columnsOfRows[config.attr_persistence].map((column) => columnName(column, naming)),
    ];
    this.#time = columnName(config.last_data_timestamp_key, naming);
    this.#timeFormat = config.last_data_sql_timestamp_format || undefined;
  }

  /** The rows with the names of their tables of last data. Throws `LAST_DATA_INCOMPLETE` for one without key or time. */
  rows(rows: readonly PlacedRow[]): readonly PlacedRow[] {
    return rows.map((row) => {
      for (const column of [...this.#key, this.#time]) refuseWithout(column, row);
      return { ...row, name: this.#nameBeside(row.name) };
    });
  }

  /**
   * The same rows by table, tables and entities in one order everywhere: two sinks that change the same rows then do not
   * wait for each other. The rows of one entity stay in the order of arrival.
   */
  batches(rows: readonly PlacedRow[]): readonly TableBatch[] {
    const keyed = rows.map((row) => ({ row, key: this.#orderOf(row) }));
    const ordered = keyed.sort(({ key: one }, { key: other }) => compare(one, other)).map(({ row }) => row);
    return groupedByTable(ordered).map((batch) => ({ ...batch, key: this.#key }));
  }

  /** In order of arrival: a row that is newer than the stored one changes it, one of a removed entity deletes it. */
  statements({ placed }: TableBatch, fitted: FittedRows, store: KnownStore): readonly Statement[] {
    const statements = placed.map((row, index) => {
      const cells = fitted.rows[index] ?? [];
      const stored = fitted.columns.map((column, at) => ({ column, cell: cells[at] }));
      return row.removed ? this.#removal(fitted, stored, store) : this.#upsert(row, fitted, stored, store);
    });
    return joinedRuns(statements);
  }

  #upsert({ columns }: PlacedRow, { name }: FittedRows, stored: readonly Stored[], store: KnownStore): Statement {
    const beside = columns.map((column) => overflowColumn(column, this.#naming));
    const named = new Set([...columns, ...beside]);
    const own = stored.filter(({ column }) => named.has(column.name));
    const given = new Set(own.map(({ column }) => column.name));
    // What did not fit last time and fits now must not stay beside.
    const emptied = beside.filter((column) => !given.has(column) && store.tables.kind(name, column) !== undefined);
    const all = [
      ...own,
      ...emptied.map((column) => ({ column: { name: column, kind: "text" } as const, cell: undefined })),
    ];
    return store.dialect.upsert({
      name,
      columns: all.map(({ column }) => column),
      cells: all.map(({ cell }) => cell),
      key: this.#key,
      time: { name: this.#time, kind: stored.find(({ column }) => column.name === this.#time)?.column.kind ?? "text" },
      timeFormat: this.#timeFormat,
    });
  }

  #removal({ name }: FittedRows, stored: readonly Stored[], { dialect }: KnownStore): Statement {
    const cells = this.#entityKey.map((column) => stored.find((one) => one.column.name === column)?.cell);
    return dialect.remove({ name, key: this.#entityKey, cells });
  }

  #orderOf({ name, columns, cells }: PlacedRow): string {
    return [tableKey(name), ...this.#entityKey.map((column) => cells[columns.indexOf(column)] ?? "")].join("\0");
  }

  #nameBeside(name: TableName): TableName {
    const table = shorten(`${name.table}${this.#suffix}`, nameLimits[this.#naming.database]);
    return freeTable({ ...name, table }, this.#dialect);
  }
}

/** What tells the rows of one entity apart. */
const columnsOfRows = { column: [], row: ["attrName"] } as const satisfies Record<
  SqlConfig["attr_persistence"],
  readonly string[]
>;

interface Stored {
  readonly column: Column;
  readonly cell: Cell;
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function refuseWithout(column: string, { columns, cells, name }: PlacedRow): void {
  const index = columns.indexOf(column);
  if (index !== -1 && cells[index] !== undefined) return;
  const message = `storing last data of table "${name.table}": the entity has no value for "${column}"`;
  throw new AgentError("LAST_DATA_INCOMPLETE", `${message}; see last_data_unique_key and last_data_timestamp_key`, {
    retryable: false,
  });
}
