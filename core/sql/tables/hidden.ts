import { databaseErrorOf } from "../contract/database-error.js";
import type { TableName } from "../contract/statement.js";
import type { KnownStore } from "./known-store.js";

/**
 * Why a table that the catalogue does not show may be there; undefined for one that was dropped. The catalogue of MySQL shows
 * only tables to which the user has a right.
 */
export async function hiddenBecause(
  name: TableName,
  { dialect, driver, server }: KnownStore,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await driver.read([dialect.countMatching({ name, conditions: [] }, 1)], signal);
    return "it was made while the tables were looked up; repeat the command";
  } catch (error) {
    if (signal.aborted) throw error;
    const reason = databaseErrorOf(error);
    return dialect.errors.missing(reason) ? undefined : dialect.errors.explain(reason, server);
  }
}
