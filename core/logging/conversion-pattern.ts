import { datePattern } from "./date-pattern.js";
import type { LogRecord } from "./log-record.js";
import { contextOf, messageOf } from "./record-text.js";

/** Writes a record by a conversion pattern of log4j; what it does not know stays as it is. */
export function conversionPattern(pattern: string): (record: LogRecord) => string {
  const parts = [...pattern.matchAll(TOKENS)].map(partOf);
  return (record) => parts.map((part) => part(record)).join("");
}

type Part = (record: LogRecord) => string;
type Conversion = (option: string | undefined) => Part;

const time: Conversion = (option) => {
  const write = datePattern(option ?? "");
  return (record) => write(record.time);
};
const level: Conversion = () => (record) => record.level;
const message: Conversion = () => messageOf;
const context: Conversion = (name) => (record) => contextOf(record, name);
const logger: Conversion = (precision) => {
  const last = Number(precision);
  return ({ logger }) => (last > 0 ? logger.split(".").slice(-last).join(".") : logger);
};
const unknown: Conversion = () => () => "?";

/** Longer names first, because `%message` is not `%m` and `essage`. */
const conversions: ReadonlyMap<string, Conversion> = new Map([
  ["message", message],
  ["logger", logger],
  ["thread", () => () => "main"],
  ["level", level],
  ["date", time],
  ["msg", message],
  ["mdc", context],
  ["MDC", context],
  ["d", time],
  ["p", level],
  ["c", logger],
  ["C", logger],
  ["m", message],
  ["n", () => () => "\n"],
  ["t", () => () => "main"],
  ["X", context],
  ["F", unknown],
  ["L", unknown],
  ["M", unknown],
  ["%", () => () => "%"],
]);

// A conversion with its width and options, such as %-5.10p, %X{corr} and %d{HH:mm}{UTC}, or text up to the next %.
const TOKENS = new RegExp(
  `%(?<left>-)?(?<least>\\d+)?(?:\\.(?<most>\\d+))?(?<word>${[...conversions.keys()].join("|")})` +
    "(?:\\{(?<option>[^}]*)\\})?(?:\\{[^}]*\\})?|[^%]+|%",
  "g",
);

function partOf({ 0: token, groups = {} }: RegExpExecArray): Part {
  const { word, option, left, least, most } = groups;
  const conversion = word === undefined ? undefined : conversions.get(word);
  if (conversion === undefined) return () => token;
  const write = conversion(option);
  const width = { left: left !== undefined, least: widthOf(least, 0), most: widthOf(most, WIDEST) };
  return (record) => fitted(write(record), width);
}

const WIDEST = 100_000;
const MOST_PADDING = 1000;

function widthOf(digits: string | undefined, otherwise: number): number {
  return digits === undefined ? otherwise : Math.min(Number(digits), WIDEST);
}

interface Width {
  readonly left: boolean;
  readonly least: number;
  readonly most: number;
}

/** As log4j does: too long a text loses its beginning. */
function fitted(text: string, { left, least, most }: Width): string {
  const cut = text.length > most ? text.slice(text.length - most) : text;
  const width = Math.min(least, MOST_PADDING);
  return left ? cut.padEnd(width) : cut.padStart(width);
}
