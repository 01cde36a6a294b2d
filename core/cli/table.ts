import Table from "cli-table3";
import { onOneLine } from "../logging/log-record.js";

const none = { top: "", "top-mid": "", "top-left": "", "top-right": "" };
const noBottom = { bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "" };
const noSides = { left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "  " };

/** Rows under a header, in columns as wide as their content, for people. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
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
