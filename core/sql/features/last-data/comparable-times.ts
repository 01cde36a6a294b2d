import type { NativeValue } from "../../contract/column.js";
import type { PlacedRow } from "../../rows/grouping.js";
import { only } from "../../rows/layout.js";

const FINER = /^("?\d{4}-\d\d-\d\d[T ][\d:]+\.\d{6})\d+/i;

/** The row with the time in a column cut to microseconds: what is finer fits no typed column, and would be no time there. */
export function inMicroseconds(row: PlacedRow, column: string): PlacedRow {
  return changed(row, column, { kinds: ["time"], change: (text) => text.replace(FINER, "$1") });
}

const TIME =
  /^(?<open>"?)(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<minutes>\d\d:\d\d)(?<seconds>:\d\d)?(?<fraction>\.\d+)?(?:Z|(?<hour>[+-](?:0\d|1[0-4]))(?::?(?<minute>\d\d))?)?)?(?<close>"?)$/i;
const TO_THE_SECOND = 19;
const EPOCH_MILLIS = /^\d+$/;
/** With the look-behind it takes time in proportion to the text, also in one of many zeros before another digit. */
const ZEROS_AT_END = /(?<!0)\.?0+$/;

/** The row with the time in a column in UTC, for a database that compares texts letter by letter. */
export function inUtc(row: PlacedRow, column: string): PlacedRow {
  return changed(row, column, { kinds: ["time", "text"], change: utcText });
}

/** The fraction stays as it was given; a text without an offset, or that is no time, is unchanged. */
function utcText(text: string): string {
  const { open = "", hour, fraction = "", close = "" } = partsOf(text);
  const second = hour === undefined ? undefined : utcSecond(text);
  return second === undefined ? text : `${open}${second}${fraction}Z${close}`;
}

/**
 * What orders times of ISO 8601, and milliseconds since 1970, as texts; a time without a zone is in UTC. Undefined for a time that only the
 * database can read.
 */
export function instantOf(text: string): string | undefined {
  if (EPOCH_MILLIS.test(text)) return text;
  const second = utcSecond(text);
  return second === undefined ? undefined : `${second}${partsOf(text)["fraction"]?.replace(ZEROS_AT_END, "") ?? ""}`;
}

function utcSecond(text: string): string | undefined {
  const { day, minutes = "00:00", seconds = ":00", hour = "+00", minute = "00" } = partsOf(text);
  const instant = Date.parse(`${day}T${minutes}${seconds}${hour}:${minute}`);
  return Number.isNaN(instant) ? undefined : new Date(instant).toISOString().slice(0, TO_THE_SECOND);
}

function partsOf(text: string): Readonly<Record<string, string | undefined>> {
  return TIME.exec(text)?.groups ?? {};
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
