import type { PlacedRow } from "../../rows/grouping.js";
import { only } from "../../rows/layout.js";

const FINER = /^("?\d{4}-\d\d-\d\d[T ][\d:]+\.\d{6})\d+/;

/** The row with the time in a column cut to microseconds: what is finer fits no typed column, and would be no time there. */
export function inMicroseconds(row: PlacedRow, column: string): PlacedRow {
  const at = row.columns.indexOf(column);
  if (!FINER.test(row.cells[at] ?? "")) return row;
  const cut = (text: string) => text.replace(FINER, "$1");
  return {
    ...row,
    cells: row.cells.map((cell, index) => (index === at && cell !== undefined ? cut(cell) : cell)),
    values: only(() =>
      row.values().map((value, index) => {
        if (index !== at || value?.kind !== "time") return value;
        return { ...value, text: cut(value.text), plain: cut(value.plain) };
      }),
    ),
  };
}
