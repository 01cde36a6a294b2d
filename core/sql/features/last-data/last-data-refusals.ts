import { AgentError } from "../../../sdk/index.js";
import { type Column, utcTime } from "../../contract/column.js";
import type { Cell } from "../../contract/statement.js";
import type { PlacedRow } from "../../rows/grouping.js";

// A day or a time without its fraction, and a zone; SQLite misreads hour 24, and zones beyond 14 hours, which no place has. Texts of simplified NGSI-LD have their quotes.
const TIME =
  /^"?(\d{4}-\d\d-\d\d(?:[T ](?!24)\d\d:\d\d(?::\d\d)?)?)(?:(?<=:\d\d:\d\d)\.\d+)?(Z|[+-](?:0\d|1[0-4])(?::?\d\d)?)?"?$/;
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
 * Throws `LAST_DATA_INCOMPLETE` for a text that is no time of ISO 8601. Stored once, one that sorts behind all times, or that
 * the database cannot read, would keep every later value out of the table.
 */
export function refuseNoTime(column: string, row: PlacedRow): void {
  const text = cellOf(column, row) ?? "";
  if (isTime(text)) return;
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

function isTime(text: string): boolean {
  const [, time, zone = ""] = TIME.exec(text.toUpperCase()) ?? [];
  if (time === undefined) return false;
  const whole = `${time}${zone}`;
  return utcTime({ kind: "time", text: whole, plain: whole }) !== undefined;
}

function cellOf(column: string, { columns, cells }: PlacedRow): Cell {
  return cells[columns.indexOf(column)];
}

function incomplete({ name }: PlacedRow, reason: string): AgentError {
  return new AgentError("LAST_DATA_INCOMPLETE", `storing last data of table "${name.table}": ${reason}`, {
    retryable: false,
  });
}
