import type { Event } from "deneb/sdk";
import type { TableRows } from "./dialects/dialect.js";
import type { Row } from "./layouts/column.js";
import type { Cell } from "./statement.js";
import { type TableName, tableKey } from "./table-name.js";

/** A row and the table it goes to. */
export interface PlacedRow extends Row {
  readonly name: TableName;
  /** The id or type the table is named after. */
  readonly subject: string;
  readonly event: Event;
}

/** The rows of one table, with the events they come from. */
export interface TableBatch extends TableRows {
  readonly events: readonly Event[];
}

/** The rows by table; each table gets the columns of all its rows, NULL where a row has no such column. */
export function groupedByTable(rows: readonly PlacedRow[]): readonly TableBatch[] {
  const byTable = new Map<string, PlacedRow[]>();
  for (const row of rows) {
    const key = tableKey(row.name);
    const others = byTable.get(key);
    if (others === undefined) byTable.set(key, [row]);
    else others.push(row);
  }
  return [...byTable.values()].flatMap((ofTable) => joined(ofTable) ?? []);
}

function joined(rows: readonly PlacedRow[]): TableBatch | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const { name, subject } = first;
  const columns = union(rows, first.columns);
  return {
    name,
    subject,
    columns,
    rows: rows.map((row) => aligned(row, columns)),
    events: rows.map(({ event }) => event),
  };
}

// Rows of entities with the same attributes share one list of columns, so most often there is nothing to do.
function union(rows: readonly Row[], columns: readonly string[]): readonly string[] {
  if (rows.every((row) => row.columns === columns)) return columns;
  return [...new Set(rows.flatMap((row) => row.columns))];
}

function aligned(row: Row, columns: readonly string[]): readonly Cell[] {
  if (row.columns === columns) return row.cells;
  const cells = new Map(row.columns.map((column, index) => [column, row.cells[index]]));
  return columns.map((column) => cells.get(column));
}
