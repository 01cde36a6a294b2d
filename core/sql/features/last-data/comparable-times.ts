import type { NativeValue } from "../../contract/column.js";
import type { PlacedRow } from "../../rows/grouping.js";
import { only } from "../../rows/layout.js";

const FINER = /^("?\d{4}-\d\d-\d\d[T ][\d:]+\.\d{6})\d+/i;

/** The row with the time in a column cut to microseconds: what is finer fits no typed column, and would be no time there. */
export function inMicroseconds(row: PlacedRow, column: string): PlacedRow {
  return changed(row, column, { kinds: ["time"], change: (text) => text.replace(FINER, "$1") });
}

const WITH_OFFSET =
  /^(?<open>"?)(?<day>\d{4}-\d\d-\d\d)[T ](?<minutes>\d\d:\d\d)(?<seconds>:\d\d)?(?<fraction>\.\d+)?(?<hour>[+-]\d\d)(?::?(?<minute>\d\d))?(?<close>"?)$/i;
const TO_THE_SECOND = 19;

/** The row with the time in a column in UTC, for a database that compares texts letter by letter. */
export function inUtc(row: PlacedRow, column: string): PlacedRow {
  return changed(row, column, { kinds: ["time", "text"], change: utcText });
}

/** The fraction stays as it was given; a text without an offset, or that is no time, is unchanged. */
function utcText(text: string): string {
  const parts = WITH_OFFSET.exec(text)?.groups;
  if (parts === undefined) return text;
  const { open = "", day, minutes, seconds = ":00", fraction = "", hour, minute = "00", close = "" } = parts;
  const instant = Date.parse(`${day}T${minutes}${seconds}${hour}:${minute}`);
  if (Number.isNaN(instant)) return text;
  return `${open}${new Date(instant).toISOString().slice(0, TO_THE_SECOND)}${fraction}Z${close}`;
}

interface Change {
  /** The kinds of values that change beside the cell. */
  readonly kinds: readonly NativeValue["kind"][];
  change(text: string): string;
}

function changed(row: PlacedRow, column: string, { kinds, change }: Change): PlacedRow {
  const at = row.columns.indexOf(column);
  const cell = row.cells[at];
  if (cell === undefined || change(cell) === cell) return row;
  return {
    ...row,
    cells: row.cells.with(at, change(cell)),
    values: only(() =>
      row.values().map((value, index) => {
        if (index !== at || value === undefined || !kinds.includes(value.kind)) return value;
        return { ...value, text: change(value.text), plain: change(value.plain) };
      }),
    ),
  };
}
