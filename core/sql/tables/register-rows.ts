import type { Column } from "../contract/column.js";
import type { Dialect, TableDefinition } from "../contract/dialect.js";
import { type Cell, joinedRuns, type Statement } from "../contract/statement.js";
import type { TableName } from "../contract/table-name.js";

/** What a table of a sink is for. */
export type TableKind = "history" | "last data";

/** A table as a sink lists it. */
export interface Listing {
  readonly name: TableName;
  readonly kind: TableKind;
  /** The full id or type that the table is named after. */
  readonly subject: string;
}

/** A row of a register. */
export interface RegisterRow extends Listing {
  readonly sink: string;
}

const SCHEMA = "schema_name";
const TABLE = "table_name";
const SINK = "sink";
const KEY = [SCHEMA, TABLE, SINK];
const TIME: Column = { name: "known_since", kind: "text" };
/** More may follow. */
export const registerColumns: readonly Column[] = [
  ...KEY.map((name) => ({ name, kind: "text" }) as const),
  { name: "kind", kind: "text" },
  { name: "subject", kind: "longtext" },
  TIME,
];
const CELLS_OF_ROW = 6;

export function registerDefinition(name: TableName): TableDefinition {
  return { name, columns: registerColumns, key: KEY };
}

/** Lists the tables for a sink. Another process may list the same ones for a sink of the same name. */
export function listingStatements(
  listings: readonly Listing[],
  { sink, time, dialect }: { readonly sink: string; readonly time: string; readonly dialect: Dialect },
): readonly Statement[] {
  const rows = listings.map(({ name, kind, subject }) =>
    dialect.upsert({
      name: dialect.registerTable(name),
      columns: registerColumns,
      cells: [name.schema, name.table, sink, kind, subject, time],
      key: KEY,
      time: TIME,
      timeFormat: undefined,
    }),
  );
  return joinedRuns(rows);
}

/** The rows of a register among those of an answer that has columns of tables, too. */
export function registerRows(answer: readonly (readonly Cell[])[]): readonly RegisterRow[] {
  return answer.flatMap((row) => {
    if (row.length !== CELLS_OF_ROW) return [];
    const [database = "", schema = "", table = "", sink = "", kind, subject = ""] = row;
    const known = kind === "history" || kind === "last data" ? kind : undefined;
    return known === undefined ? [] : [{ name: { database, schema, table }, sink, kind: known, subject }];
  });
}

/** The other rows. */
export function columnRows(answer: readonly (readonly Cell[])[]): readonly (readonly Cell[])[] {
  return answer.filter((row) => row.length !== CELLS_OF_ROW);
}
