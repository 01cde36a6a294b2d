import type { StoredTable } from "../../../sdk/index.js";
import { tableKey } from "../../contract/statement.js";
import type { KnownStore } from "../../tables/known-store.js";

const TABLES_AT_ONCE = 1000;

/** The tables with their partitions and rows, as far as the database knows them without counting. */
export async function withSizes(
  tables: readonly StoredTable[],
  { dialect, driver }: KnownStore,
  signal: AbortSignal,
): Promise<readonly StoredTable[]> {
  if (dialect.tableSizes === undefined) return tables;
  const sizes = new Map<string, Pick<StoredTable, "partitions" | "rows">>();
  for (let start = 0; start < tables.length; start += TABLES_AT_ONCE) {
    const questions = dialect.tableSizes(tables.slice(start, start + TABLES_AT_ONCE));
    for (const [database = "", schema = "", table = "", rows, partitions] of await driver.read(questions, signal))
      sizes.set(tableKey({ database, schema, table }), {
        ...(rows === undefined ? {} : { rows: Math.round(Number(rows)) }),
        ...(partitions === undefined ? {} : { partitions: Number(partitions) }),
      });
  }
  return tables.map((table) => ({ ...table, ...sizes.get(tableKey(table)) }));
}
