import type { RowSelection, StoredColumn, StoredRows } from "../../../sdk/index.js";
import type { Column, ColumnKind } from "../../contract/column.js";
import type { Cell, Statement, TableName } from "../../contract/statement.js";
import { isUnstorable } from "../../rows/layout.js";
import type { KnownStore } from "../../tables/known-store.js";
import { type Lister, printedLister } from "../../tables/lister.js";
import { chosenTables, nameOf } from "./chosen-tables.js";
import { withRows } from "./tables-with-rows.js";

/** Rows in one part of what is read. */
const PAGE = 1000;

/** The rows of the tables of a sink, one table after another; a table that is dropped meanwhile has none. */
export async function* storedRows(
  selection: RowSelection,
  lister: Lister,
  { store, signal }: { readonly store: KnownStore; readonly signal: AbortSignal },
): AsyncGenerator<StoredRows> {
  const { chosen, doubtful, others } = await chosenTables(selection, lister, store, signal);
  for (const table of selection.tables === undefined ? [] : others)
    yield { table, columns: [], rows: nothing(), skipped: `only ${printedLister(table)} has listed it` };
  for (const { table, reason } of doubtful) yield { table, columns: [], rows: nothing(), skipped: reason };
  if (selection.entity !== undefined && isUnstorable(selection.entity)) return;
  const all = chosen.map(({ table, conditions }) => ({ table, name: nameOf(table), conditions }));
  for await (const { table, name, conditions } of withRows(all, { store, signal })) {
    const columns = await columnsOf(name, store, signal);
    if (columns.length === 0) continue;
    const statement = store.dialect.readMatching(columns, { name, conditions });
    yield {
      table,
      columns: columns.map(({ name: column, kind }) => ({ name: column, kind: printedKinds[kind] })),
      rows: { [Symbol.asyncIterator]: () => printed(columns, pagesOf(statement, store, signal)) },
    };
  }
}

async function* nothing(): AsyncGenerator<readonly (readonly Cell[])[]> {}

/** In the order of the table, as far as the database gives it. */
async function columnsOf(
  name: TableName,
  { dialect, driver }: KnownStore,
  signal: AbortSignal,
): Promise<readonly Column[]> {
  const answer = await driver.read(dialect.catalogue([name]), signal);
  return answer.flatMap(([, , table, column, type = ""]) =>
    table === name.table && column !== undefined ? [{ name: column, kind: dialect.columnKind(type) }] : [],
  );
}

function pagesOf(
  statement: Statement,
  { driver }: KnownStore,
  signal: AbortSignal,
): AsyncIterable<readonly (readonly Cell[])[]> {
  return driver.pages?.(statement, PAGE, signal) ?? whole(statement, driver, signal);
}

async function* whole(statement: Statement, { read }: KnownStore["driver"], signal: AbortSignal) {
  yield await read([statement], signal);
}

const printedKinds = {
  text: "text",
  longtext: "text",
  integer: "integer",
  number: "number",
  boolean: "boolean",
  time: "time",
  json: "json",
  geometry: "json",
  geometryz: "json",
  other: "text",
} as const satisfies Record<ColumnKind, StoredColumn["kind"]>;

const DATABASE_TIME = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d(?:\.\d+)?)(?:Z|[+]00(?::?00)?)?$/;

/** Times and booleans of typed columns in one form; databases without time zones keep UTC. */
async function* printed(
  columns: readonly Column[],
  pages: AsyncIterable<readonly (readonly Cell[])[]>,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  const forms = columns.map(({ kind }) => (kind === "time" ? isoTime : kind === "boolean" ? truth : undefined));
  for await (const page of pages) {
    if (forms.every((form) => form === undefined)) yield page;
    else yield page.map((row) => row.map((cell, at) => forms[at]?.(cell) ?? cell));
  }
}

function truth(cell: Cell): Cell {
  if (cell === "t" || cell === "1") return "true";
  return cell === "f" || cell === "0" ? "false" : cell;
}

function isoTime(cell: Cell): Cell {
  return cell?.replace(DATABASE_TIME, "$1T$2Z");
}
