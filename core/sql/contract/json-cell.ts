import { isNestedDeeperThan } from "../../ngsi/values/json.js";
import { endOfNumber, lossyNumbers } from "../../ngsi/values/lossy-numbers.js";
import type { Cells, NativeValue } from "./column.js";
import type { Cell } from "./statement.js";

/** What a column of JSON stores for a value, if it keeps any JSON text. @beta */
export function jsonCell(value: NativeValue): string {
  const { kind, text, mayBeJson } = value;
  return kind === "text" && mayBeJson === true && isStructure(text) ? text : exactJson(value);
}

function isStructure(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The value as JSON text; a text is a JSON string, whatever it holds. */
export function exactJson({ kind, text, plain }: NativeValue): string {
  if (kind === "geometry") return /^[[{]/.test(plain) ? plain : JSON.stringify(plain);
  return kind === "text" || kind === "time" ? JSON.stringify(text) : text;
}

/**
 * For columns that refuse escapes of NUL and of halves of surrogate pairs in JSON, and numbers with exponents of more than
 * three digits, as `jsonb` of PostgreSQL does.
 * @beta
 */
export function strictJsonCell(value: NativeValue): Cell {
  const json = jsonCell(value);
  return REFUSED_IN_JSON.test(json) || hasHugeExponent(json) ? undefined : json;
}

/** What a column of JSON stores without loss, where it keeps more than a text. @beta */
export interface JsonColumn {
  /** How many levels of arrays and objects. */
  readonly deepest: number;
  /** How long a name is at most, in bytes of UTF-8. */
  readonly longestName: number;
}

/**
 * For columns that keep the numbers of JSON as integers of 64 bits, with or without a sign, and as doubles, refuse halves of
 * surrogate pairs, and have limits, as `json` of MySQL does.
 * @beta
 */
export function doublesJsonCell({ deepest, longestName }: JsonColumn): Cells["json"] {
  return (value) => {
    const json = jsonCell(value);
    const fits = !isNestedDeeperThan(deepest, json) && !hasLossyDouble(json) && !hasLongName(longestName, json);
    return fits && !HALF_IN_JSON.test(json) ? json : undefined;
  };
}

function hasLossyDouble(json: string): boolean {
  const starts = lossyNumbers(json, "precise", Number.POSITIVE_INFINITY);
  return starts.some((start) => !isWithin64Bits(json.slice(start, endOfNumber(json, start))));
}

const MOST_DIGITS = 20;

function isWithin64Bits(digits: string): boolean {
  if (!/^-?\d+$/.test(digits) || digits.length > MOST_DIGITS) return false;
  const integer = BigInt(digits);
  return integer === (digits.startsWith("-") ? BigInt.asIntN(64, integer) : BigInt.asUintN(64, integer));
}

function hasLongName(longest: number, json: string): boolean {
  return Buffer.byteLength(json) > longest && hasNameAbove(longest, JSON.parse(json));
}

function hasNameAbove(longest: number, json: unknown): boolean {
  if (typeof json !== "object" || json === null) return false;
  const isAbove = ([name, member]: [string, unknown]) =>
    Buffer.byteLength(name) > longest || hasNameAbove(longest, member);
  return Array.isArray(json) ? json.some((one) => hasNameAbove(longest, one)) : Object.entries(json).some(isAbove);
}

const HALF_IN_JSON = /\\ud[89a-f]/i;
const REFUSED_IN_JSON = /\\u(?:0000|d[89a-f])/i;
const HUGE_EXPONENT = /(?:^|[[:,])-?\d+(?:\.\d+)?e[+-]?\d{4}/i;

function hasHugeExponent(json: string): boolean {
  return HUGE_EXPONENT.test(json) && HUGE_EXPONENT.test(json.replace(/\\./g, "").replace(/"[^"]*"/g, '""'));
}
