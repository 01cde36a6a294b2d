import { lowerCase } from "../../ngsi/index.js";
import { databaseErrorOf } from "../contract/database-error.js";
import { type TableName, tableKey } from "../contract/statement.js";
import { type KnownStore, lookUp } from "./known-store.js";

/**
 * Why a table that the catalogue does not show may be there; undefined for one that was dropped. The catalogue of MySQL shows
 * only tables to which the user has a right, and with `lower_case_table_names` under names in lower case: one that is searched
 * under that name is not left out.
 */
export async function hiddenBecause(
  name: TableName,
  store: KnownStore,
  signal: AbortSignal,
  searched: ReadonlySet<string> = new Set(),
): Promise<string | undefined> {
  const { dialect, driver, server } = store;
  try {
    await driver.read([dialect.countMatching({ name, conditions: [] }, 1)], signal);
  } catch (error) {
    if (signal.aborted) throw error;
    const reason = databaseErrorOf(error);
    return dialect.errors.missing(reason) ? undefined : dialect.errors.explain(reason, server);
  }
  const shown = await shownAs(name, store, signal);
  if (shown === undefined) return "it was made while the tables were looked up; repeat the command";
  if (searched.has(tableKey(shown))) return undefined;
  return `the server keeps names in lower case, it is table "${shown.schema}.${shown.table}"; list that one with deneb tables adopt`;
}

/** Only a table that is still not shown under its own name is another one: a server may have both. */
async function shownAs(name: TableName, store: KnownStore, signal: AbortSignal): Promise<TableName | undefined> {
  const lower = { ...name, schema: lowerCase(name.schema), table: lowerCase(name.table) };
  if (tableKey(lower) === tableKey(name)) return undefined;
  await lookUp([name, lower], store, signal);
  const isShown = (one: TableName) => store.tables.columns(one) !== undefined;
  return !isShown(name) && isShown(lower) ? lower : undefined;
}
