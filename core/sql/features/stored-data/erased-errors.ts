import type { ErasedRows, LeftData, StoredSelection } from "../../../sdk/index.js";
import type { MatchingRows, RowCondition } from "../../contract/matching.js";
import { type SchemaName, schemaKey, type TableName, tableKey } from "../../contract/statement.js";
import { printedName } from "../../tables/catalogue.js";
import { hiddenBecause } from "../../tables/hidden.js";
import { type KnownStore, lookUp } from "../../tables/known-store.js";
import { errorColumns, errorTableIn } from "../error-table.js";
import type { ChosenTable } from "./chosen-tables.js";

/** Rows that are to be erased. */
export interface DoomedRows extends MatchingRows {
  readonly printed: string;
  readonly kind: ErasedRows["kind"];
}

/**
 * The rows of error tables that a selection means: those whose statement or message quotes the id, or all of a schema of a
 * service. An error table belongs to the sinks that have tables in its schema.
 */
export async function errorRows(
  { entity, tables }: StoredSelection,
  chosen: readonly ChosenTable[],
  { store, signal, left }: { readonly store: KnownStore; readonly signal: AbortSignal; readonly left: LeftData[] },
): Promise<readonly DoomedRows[]> {
  if (tables !== undefined) return [];
  const names = [...schemasOf(chosen)].map((schema) => errorTableIn(schema, store));
  await lookUp(names, store, signal);
  for (const name of names) {
    const reason = store.tables.columns(name) === undefined ? await hiddenBecause(name, store, signal) : undefined;
    if (reason !== undefined) left.push({ name: printedName(name), reason });
  }
  return names.flatMap((name) => {
    if (!errorColumns.every((column) => store.tables.kind(name, column.name) !== undefined)) return [];
    const of = { name, printed: printedName(name), kind: "errors" } as const;
    return entity === undefined
      ? [{ ...of, conditions: [] }]
      : quoting(entity, name, store).map((condition) => ({ ...of, conditions: [condition] }));
  });
}

/** Error tables in schemas in which the sink has listed no table. */
export async function otherErrorTables(
  chosen: readonly ChosenTable[],
  { store, signal }: { readonly store: KnownStore; readonly signal: AbortSignal },
): Promise<readonly TableName[]> {
  const { dialect, driver } = store;
  const units = await driver.commitUnits(signal);
  const questions = dialect.tablesWith(
    errorColumns.map(({ name }) => name),
    units,
  );
  const own = new Set([...schemasOf(chosen)].map((schema) => tableKey(errorTableIn(schema, store))));
  const found = new Map<string, TableName>();
  for (const [database = "", schema = "", table = ""] of await driver.read(questions, signal)) {
    const name = { database, schema, table };
    if (tableKey(errorTableIn(name, store)) === tableKey(name)) found.set(tableKey(name), name);
  }
  return [...found].flatMap(([key, name]) => (own.has(key) ? [] : [name]));
}

function schemasOf(chosen: readonly ChosenTable[]): Iterable<SchemaName> {
  const all = chosen.map(({ table: { database, schema } }) => ({ database, schema }));
  return new Map(all.map((schema) => [schemaKey(schema), schema] as const)).values();
}

/** Parameters and names in messages are written as JSON. */
function quoting(entity: string, name: TableName, { tables }: KnownStore): readonly RowCondition[] {
  return ["query", "error"].map((column) => ({
    column: { name: column, kind: tables.kind(name, column) ?? "text" },
    test: "contains",
    text: JSON.stringify(entity),
  }));
}
