import { columnName, type Naming, nameLimits, shorten } from "../../ngsi/index.js";
import { AgentError } from "../../sdk/index.js";
import type { Column } from "../contract/column.js";
import type { Dialect } from "../contract/dialect.js";
import type { SqlConfig } from "../contract/schema.js";
import { type Cell, joinedRuns, type Statement, type TableName, tableKey } from "../contract/statement.js";
import { freeTable } from "../rows/admission.js";
import { overflowColumn } from "../rows/column-names.js";
import { groupedByTable, type PlacedRow, type TableBatch } from "../rows/grouping.js";
import type { FittedRows } from "../tables/fitting.js";
import type { KnownStore } from "../tables/known-store.js";

/** Maintains, beside a table of history, a table with one row for each entity: its last values. */
export class LastData {
  readonly #naming: Naming;
  readonly #dialect: Pick<Dialect, "allowed" | "database">;
  readonly #suffix: string;
  /** The columns that identify an entity. */
  readonly #entityKey: readonly string[];
  /** The columns that identify a row. */
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

  /**
   * The rows with the names of their tables of last data. Throws `LAST_DATA_INCOMPLETE` for a row without key or time.
   */
  rows(rows: readonly PlacedRow[]): readonly PlacedRow[] {
    return rows.map((row) => {
      for (const column of [...this.#key, this.#time]) refuseWithout(column, row);
      return { ...row, name: this.#nameBeside(row.name) };
    });
  }

  /**
   * The rows by table, with tables and entities in the same order everywhere, so that two sinks that change the same
   * rows do not deadlock. The rows of one entity stay in the order of arrival.
   */
  batches(rows: readonly PlacedRow[]): readonly TableBatch[] {
    const keyed = rows.map((row) => ({ row, key: this.#orderOf(row) }));
    const ordered = keyed.sort(({ key: one }, { key: other }) => compare(one, other)).map(({ row }) => row);
    return groupedByTable(ordered).map((batch) => ({ ...batch, key: this.#key }));
  }

  /** In order of arrival: a row that is newer than the stored one replaces it, a row of a removed entity deletes it. */
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
    // An overflow value of an earlier row must not remain.
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

/** The columns that identify the rows of one entity. */
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
  throw new AgentError("LAST_DATA_INCOMPLETE", `${message}; see last_data_unique_key and last_data_timestamp_key`);
}
