import { faultOf } from "../contract/database-error.js";
import { type TableName, tableKey } from "../contract/table-name.js";
import type { KnownStore } from "./known-store.js";
import { type RegisterRow, registerColumns, registerRows } from "./register-rows.js";

export interface ListedTables {
  /** The tables of history of a sink. */
  readonly own: readonly TableName[];
  /** All other tables: those of last data, and those of other sinks. */
  readonly others: readonly TableName[];
}

/** What the rows of registers say for a sink. A table that keeps last data for one sink is history for none. */
export function listedTables(rows: readonly RegisterRow[], sink: string): ListedTables {
  const lastData = new Set(rows.filter(({ kind }) => kind === "last data").map(({ name }) => tableKey(name)));
  const own = new Map<string, TableName>();
  for (const { name, sink: by } of rows)
    if (by === sink && !lastData.has(tableKey(name))) own.set(tableKey(name), name);
  return {
    own: [...own.values()],
    others: rows.flatMap(({ name }) => (own.has(tableKey(name)) ? [] : [name])),
  };
}

/** The rows of all registers that there are. */
export async function rowsAnywhere(store: KnownStore, signal: AbortSignal): Promise<readonly RegisterRow[]> {
  const rows: RegisterRow[] = [];
  for (const register of await registers(store, signal)) rows.push(...(await rowsOf(register, store, signal)));
  return rows;
}

async function registers({ dialect, driver }: KnownStore, signal: AbortSignal): Promise<readonly TableName[]> {
  const columns = registerColumns.map(({ name }) => name);
  const found = new Map<string, TableName>();
  const answer = await driver.read(dialect.tablesWith(columns, await driver.places(signal)), signal);
  for (const [database = "", schema = "", table = ""] of answer) {
    const name = dialect.registerTable({ database, schema });
    if (name.schema === schema && name.table === table) found.set(tableKey(name), name);
  }
  return [...found.values()];
}

async function rowsOf(
  register: TableName,
  { dialect, driver, log }: KnownStore,
  signal: AbortSignal,
): Promise<readonly RegisterRow[]> {
  try {
    return registerRows(await driver.read(dialect.registered(register), signal));
  } catch (error) {
    if (signal.aborted) throw error;
    // Others may drop theirs at any time.
    log.warn({ register, reason: faultOf(error).message }, "a list of tables cannot be read now");
    return [];
  }
}
