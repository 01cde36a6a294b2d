import { figure, type Sheet } from "./sheet.js";
import { type TargetRow, verdictOf } from "./targets.js";

/** The targets with what was measured, and whether each is met. */
export function targetSheet(rows: readonly TargetRow[], title = "Targets"): Sheet {
  return {
    title,
    head: ["what", "measured", "must", "aim", "met"],
    rows: rows.map((row) => [row.what, shown(row, row.value), shown(row, row.must), shown(row, row.aim), metOf(row)]),
  };
}

function shown({ unit }: TargetRow, value: number | undefined): string {
  if (value === undefined) return "";
  return unit === "x" ? `${figure(value, 2)}x` : `${figure(value, 1)} ${unit}`;
}

function metOf(row: TargetRow): string {
  if (row.value === undefined) return "not measured";
  const words = { aim: "aim", must: "must", missed: "no" };
  const verdict = verdictOf(row);
  return verdict === undefined ? "" : words[verdict];
}
