import Table from "cli-table3";
import { onOneLine } from "../logging/log-record.js";

const none = { top: "", "top-mid": "", "top-left": "", "top-right": "" };
const noBottom = { bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "" };
const noSides = { left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "  " };

/** The package takes a minute for 100,000 rows. */
const MOST_ROWS = 1000;

/** Rows under a header, in columns as wide as their content, for people. */
export function tableText(names: readonly string[], cells: readonly (readonly string[])[]): string {
  // Names of columns may be those of attributes.
  const [head = [], ...rows] = [names, ...cells].map((row) => row.map((cell) => onOneLine(cell)));
  if (rows.length > MOST_ROWS) return longText([head, ...rows]);
  const table = new Table({
    head,
    chars: { ...none, ...noBottom, ...noSides },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  for (const row of rows) table.push(row);
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
