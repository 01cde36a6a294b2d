import { AgentError } from "../../../sdk/index.js";
import type { Column } from "../../contract/column.js";
import type { Cell } from "../../contract/statement.js";
import type { PlacedRow } from "../../rows/grouping.js";

// Texts of simplified NGSI-LD have their quotes.
const TIME = /^"?\d/;
const MOST_SHOWN = 40;

/** Throws `LAST_DATA_INCOMPLETE` for a row without a value in the column. */
export function refuseWithout(column: string, row: PlacedRow): void {
  if (cellOf(column, row) !== undefined) return;
  throw incomplete(
    row,
    `the entity has no value for "${column}"; see last_data_unique_key and last_data_timestamp_key`,
  );
}

/**
 * Throws `LAST_DATA_INCOMPLETE` for a text that does not begin like a time. Stored once, one that sorts behind all times
 * would keep every later value out of the table.
 */
export function refuseNoTime(column: string, row: PlacedRow): void {
  const text = cellOf(column, row) ?? "";
  if (TIME.test(text)) return;
  throw incomplete(row, `"${text.slice(0, MOST_SHOWN)}" in "${column}" is no time; see last_data_timestamp_key`);
}

/**
 * Throws `LAST_DATA_INCOMPLETE` for a row whose value in the column of a key or the time is not of the type that the column has:
 * it would be NULL there, and the row would never be newer than the stored one.
 */
export function refuseUnfit({ name, kind }: Column, row: PlacedRow): never {
  const text = (cellOf(name, row) ?? "").slice(0, MOST_SHOWN);
  const reason = `"${text}" does not fit column "${name}" of type ${kind}`;
  throw incomplete(row, `${reason}; see last_data_unique_key and last_data_timestamp_key`);
}

function cellOf(column: string, { columns, cells }: PlacedRow): Cell {
  return cells[columns.indexOf(column)];
}

function incomplete({ name }: PlacedRow, reason: string): AgentError {
  return new AgentError("LAST_DATA_INCOMPLETE", `storing last data of table "${name.table}": ${reason}`, {
    retryable: false,
  });
}
