import { ExactNumber, parseJson } from "../../ngsi/index.js";
import { isDay } from "../../sdk/calendar.js";
import type { Cell } from "./statement.js";

/**
 * The kind of a column: `text` is that of nearly every column; `longtext` lacks the limit that `text` has in MySQL;
 * `other` is any type that the sink does not create and writes as text.
 * @beta
 */
export type ColumnKind = PlainKind | GeometryKind;

/** The kinds that every dialect has. @beta */
export type PlainKind = "text" | "longtext" | "integer" | "number" | "boolean" | "time" | "json" | "other";

/** Geometries in the plane, and those of existing columns that may have a height; a dialect may have neither. @beta */
export type GeometryKind = "geometry" | "geometryz";

/** A column of a table. @beta */
export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Whether a new column gets a spatial index. */
  readonly indexed?: boolean;
  /** Whether the database numbers the rows by an existing column, so that no value of a sender goes there. */
  readonly identity?: boolean;
}

/** An index of a table of history. @beta */
export interface TableIndex {
  /** Unique in the schema, and reserved for this sink. */
  readonly name: string;
  readonly columns: readonly Column[];
}

/** A value before it is converted to the cell of a column. @beta */
export interface NativeValue {
  readonly kind: Exclude<ColumnKind, "longtext" | "other" | "geometryz">;
  /** The characters of a text, the digits of a number, `true`, an ISO 8601 time, JSON, or GeoJSON that is not checked. */
  readonly text: string;
  /** What a text column stores. */
  readonly plain: string;
  /** Of a text: where it is a JSON object or list, a column of JSON stores that. So do the metadata and texts of NGSI v2. */
  readonly mayBeJson?: boolean;
}

/**
 * The cell that a column of each kind stores for a value; undefined if the column cannot store it without loss.
 * @beta
 */
export type Cells = Readonly<
  Record<PlainKind, (value: NativeValue) => Cell> & Partial<Record<GeometryKind, (value: NativeValue) => Cell>>
>;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/;
// A text that would come back otherwise is no number: a postal code with a leading zero, a serial number such as 12E4, -0.
const NUMBER_AS_TEXT = /^(?!-0(?:\.0*)?$)-?(?:0|[1-9]\d*)(?:\.\d+)?$/;
const INTEGER = /^-?(?:0|[1-9]\d{0,18})$/;
const MOST_INTEGER = 2n ** 63n - 1n;
// Databases have the years 1 to 9999 in common; the zone of a time may lead beyond them.
const YEAR = /^(?!0000)\d{4}-/;
const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d+))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/;
const HOURS_ONLY = /^[+-]\d\d$/;

/** For columns of text. @beta */
export function plainCell({ plain }: NativeValue): Cell {
  return plain;
}

/** For columns of 64-bit integers. @beta */
export function integerCell({ kind, text }: NativeValue): Cell {
  if (!INTEGER.test(text) || !isNumber(kind, text)) return undefined;
  const number = BigInt(text);
  return number <= MOST_INTEGER && number >= -MOST_INTEGER ? text : undefined;
}

/** For columns of exact decimal numbers. @beta */
export function decimalCell({ kind, text }: NativeValue): Cell {
  return isNumber(kind, text) ? text : undefined;
}

/** For columns of double precision: numbers that a double represents exactly, and texts that it gives back unchanged. @beta */
export function doubleCell({ kind, text }: NativeValue): Cell {
  if (!isNumber(kind, text)) return undefined;
  if (kind === "text" && String(Number(text)) !== text) return undefined;
  return parseJson(text) instanceof ExactNumber ? undefined : text;
}

function isNumber(kind: NativeValue["kind"], text: string): boolean {
  return (kind === "text" ? NUMBER_AS_TEXT : NUMBER).test(text);
}

/** For columns of booleans, with the literals of the database. @beta */
export function booleanCell(yes: string, no: string): Cells["boolean"] {
  return ({ text }) => (text === "true" ? yes : text === "false" ? no : undefined);
}

/**
 * A time in UTC as `2020-05-13 10:00:00.123456` with its fraction unchanged; undefined for text that is not a time,
 * has more than six digits of fraction, or is before the year 1 or after 9999 in UTC.
 * @beta
 */
export function utcTime({ text }: NativeValue): Cell {
  const [, date, minutes = "00:00", seconds = "00", fraction = "", zone = "Z"] = TIME.exec(text) ?? [];
  if (date === undefined || fraction.length > 6 || !isDay(date)) return undefined;
  const instant = Date.parse(`${date}T${minutes}:${seconds}${HOURS_ONLY.test(zone) ? `${zone}:00` : zone}`);
  if (Number.isNaN(instant)) return undefined;
  const [whole = ""] = new Date(instant).toISOString().split(".");
  if (!YEAR.test(whole)) return undefined;
  return `${whole.replace("T", " ")}${fraction === "" ? "" : `.${fraction}`}`;
}
