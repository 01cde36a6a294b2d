import { AgentError } from "../../sdk/index.js";
import type { TableName } from "../contract/statement.js";
import type { KnownStore } from "./known-store.js";

/** Version of the tables in which a sink keeps its own state. Those of this version have no mark. */
const VERSION = 1;
/** A later version that this one must not write beside marks a table with a column of this name and its number. */
const MARK = "deneb_format_";

/**
 * Throws code `TABLE_OF_NEWER_VERSION` for a table of the sink that a later version has marked as its own. The columns of such
 * tables are looked up anyway, so that this costs no query.
 */
export function refuseNewerTable(name: TableName, { tables }: Pick<KnownStore, "tables">): void {
  for (const column of tables.columns(name)?.keys() ?? []) {
    if (!column.startsWith(MARK)) continue;
    const found = Number(column.slice(MARK.length));
    if (found <= VERSION) continue;
    // Looked up again with the next try.
    tables.forget(name);
    throw newerTable(name, found);
  }
}

export const NEWER_TABLE = "TABLE_OF_NEWER_VERSION";

function newerTable({ database, schema, table }: TableName, found: number): AgentError {
  const path = [...new Set([database, schema]), table].filter((part) => part !== "").join(".");
  const remedy =
    "start the later version of Deneb again, or use another database; the table is unchanged, and events wait";
  const message = `using table ${path}: it has version ${found} of its format, and this agent knows version ${VERSION}; ${remedy}`;
  return new AgentError(NEWER_TABLE, message, { retryable: true });
}
