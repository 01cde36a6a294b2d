import { type ColumnNaming, columnName } from "../../../ngsi/index.js";
import type { Column } from "../../contract/column.js";
import type { History } from "../../contract/dialect.js";
import { type Cell, type Statement, type TableName, tableKey } from "../../contract/statement.js";
import { columnLayoutColumns } from "../../rows/layout.js";
import type { KnownStore } from "../../tables/known-store.js";

const TABLES_AT_ONCE = 1000;

/** Those of the tables that have the columns of every layout; other tables are ignored, whoever listed them. */
export async function historiesOf(
  names: readonly TableName[],
  { store, naming, signal }: Looking,
): Promise<readonly History[]> {
  const found: History[] = [];
  for (let start = 0; start < names.length; start += TABLES_AT_ONCE) {
    const part = names.slice(start, start + TABLES_AT_ONCE);
    const wanted = new Set(part.map(tableKey));
    const answer = await answerOf(store.dialect.catalogue(part), store, signal);
    found.push(...withFixedColumns(answer, store, naming).filter(({ name }) => wanted.has(tableKey(name))));
  }
  return found;
}

/** The tables of these schemas that have the columns of every layout. */
export async function historiesIn(
  schemas: ReadonlySet<string>,
  { store, naming, signal }: Looking,
): Promise<readonly History[]> {
  if (schemas.size === 0) return [];
  const units = (await store.driver.commitUnits(signal)).filter(({ schema }) => schema === "" || schemas.has(schema));
  const answer = await answerOf(store.dialect.tablesWith(fixedColumns(naming), units), store, signal);
  return withFixedColumns(answer, store, naming).filter(({ name }) => schemas.has(name.schema));
}

interface Looking {
  readonly store: KnownStore;
  readonly naming: ColumnNaming;
  readonly signal: AbortSignal;
}

type Answer = readonly (readonly Cell[])[];

async function answerOf(questions: readonly Statement[], { driver }: KnownStore, signal: AbortSignal): Promise<Answer> {
  return questions.length === 0 ? [] : await driver.read(questions, signal);
}

function fixedColumns(naming: ColumnNaming): readonly string[] {
  return columnLayoutColumns.ld.map((column) => columnName(column, naming));
}

function withFixedColumns(answer: Answer, { dialect }: KnownStore, naming: ColumnNaming): readonly History[] {
  const wanted = fixedColumns(naming).map((column) => dialect.columnKey(column));
  const found = new Map<string, { readonly name: TableName; readonly columns: Map<string, Column> }>();
  for (const [database = "", schema = "", table, column, type = ""] of answer) {
    if (table === undefined || column === undefined) continue;
    const name = { database, schema, table };
    const one = found.get(tableKey(name)) ?? { name, columns: new Map() };
    found.set(tableKey(name), one);
    one.columns.set(dialect.columnKey(column), { name: column, kind: dialect.columnKind(type) });
  }
  return [...found.values()].flatMap(({ name, columns }) => {
    const [time] = wanted.map((key) => columns.get(key));
    return time === undefined || !wanted.every((key) => columns.has(key)) ? [] : [{ name, time }];
  });
}
