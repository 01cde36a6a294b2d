import { AgentError } from "../../sdk/index.js";
import type { FittedRows } from "./fitting.js";
import type { KnownStore } from "./known-store.js";
import type { KnownColumns } from "./known-tables.js";

/**
 * Throws code `DATA_REFUSED` for rows whose table would get more columns than the database allows: before anything is
 * created, and with the name of the table, which databases do not tell.
 */
export function refuseTooWide(
  { name, lacking }: FittedRows,
  known: KnownColumns | undefined,
  { dialect: { mostColumns } }: Pick<KnownStore, "dialect">,
): void {
  const columns = (known?.size ?? 0) + lacking.length;
  if (mostColumns === undefined || lacking.length === 0 || columns <= mostColumns) return;
  const message = `storing into table "${name.table}" of schema "${name.schema}": it would have ${columns} columns, the limit is ${mostColumns}`;
  const remedy = "use attr_persistence = row for such entities, or leave out attributes in the subscription";
  throw new AgentError("DATA_REFUSED", `${message}; ${remedy}`, { retryable: false });
}
