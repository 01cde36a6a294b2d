import Table from "cli-table3";
import { onOneLine } from "../logging/log-record.js";

const none = { top: "", "top-mid": "", "top-left": "", "top-right": "" };
const noBottom = { bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "" };
const noSides = { left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "  " };

/** The package takes a minute for 100,000 rows. */
const MOST_ROWS = 1000;

/** Rows under a header, in columns as wide as their content, for people. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length > MOST_ROWS) return longText([head, ...rows.map((row) => row.map((cell) => onOneLine(cell)))]);
  const table = new Table({
    head: [...head],
    chars: { ...none, ...noBottom, ...noSides },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  for (const row of rows) table.push(row.map((cell) => onOneLine(cell)));
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

/** The same, by the number of characters and not by their width. */
function longText(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  }
  const line = (row: readonly string[]) => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}
