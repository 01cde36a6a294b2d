import type { StoredColumn } from "../../sdk/index.js";

export type Rows = readonly (readonly (string | undefined)[])[];

/** The formats of an export that are text. */
export const textFormats = {
  csv: { header: csvHeader, row: csvRow },
  ndjson: { header: () => "", row: jsonRow },
} as const;

/** As in RFC 4180: a header, lines that end in CRLF. A null is nothing, an empty text is `""`. */
function csvHeader(columns: readonly StoredColumn[]): string {
  return `${columns.map(({ name }) => csvCell(name)).join(",")}\r\n`;
}

function csvRow(_columns: readonly StoredColumn[], row: Rows[number]): string {
  return `${row.map(csvCell).join(",")}\r\n`;
}

const NEEDS_QUOTES = /[",\r\n]|^\s|\s$|^$/;

function csvCell(cell: string | undefined): string {
  if (cell === undefined) return "";
  return NEEDS_QUOTES.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** One object in a line. Numbers keep all their digits, and JSON in a column of JSON is a part of the object. */
function jsonRow(columns: readonly StoredColumn[], row: Rows[number]): string {
  const members = columns.map(({ name, kind }, index) => `${JSON.stringify(name)}:${jsonValue(kind, row[index])}`);
  return `{${members.join(",")}}\n`;
}

function jsonValue(kind: StoredColumn["kind"], cell: string | undefined): string {
  if (cell === undefined) return "null";
  if ((kind === "integer" || kind === "number") && JSON_NUMBER.test(cell)) return cell;
  if (kind === "boolean" && (cell === "true" || cell === "false")) return cell;
  // Line ends are between its parts only.
  if (kind === "json" && isJson(cell)) return cell.replaceAll(/[\r\n]+/g, " ");
  return JSON.stringify(cell);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
