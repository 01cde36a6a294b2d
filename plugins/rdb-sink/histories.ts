import { type ColumnNaming, columnName } from "deneb/ngsi";
import type { Column } from "./column.js";
import type { History } from "./dialects/dialect.js";
import type { KnownStore } from "./known-store.js";
import { columnLayoutColumns } from "./layouts/fixed-columns.js";
import { type TableName, tableKey } from "./table-name.js";

/** The tables of history in the store: all that have the columns which every layout has. */
export async function histories(
  { dialect, driver }: KnownStore,
  naming: ColumnNaming,
  signal: AbortSignal,
): Promise<readonly History[]> {
  const [time, ...others] = columnLayoutColumns.ld.map((column) => columnName(column, naming));
  if (time === undefined) return [];
  const wanted = [time, ...others];
  const answers = await driver.read(dialect.tablesWith(wanted, await driver.places(signal)), signal);
  const found = new Map<string, { readonly name: TableName; readonly columns: Column[] }>();
  for (const [database = "", schema = "", table = "", column = "", type = ""] of answers) {
    const name = { database, schema, table };
    const one = found.get(tableKey(name)) ?? { name, columns: [] };
    found.set(tableKey(name), one);
    one.columns.push({ name: column, kind: dialect.columnKind(type) });
  }
  return [...found.values()].flatMap(({ name, columns }) => {
    const own = columns.find((column) => dialect.columnKey(column.name) === dialect.columnKey(time));
    return own === undefined || columns.length < wanted.length ? [] : [{ name, time: own }];
  });
}
