import { contextOf, type LogRecord, messageOf } from "./log-record.js";

/** Writes a record by a conversion pattern of log4j; unknown conversions are written unchanged. */
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

/** As in log4j, text that is too long is cut at its beginning. */
function fitted(text: string, { left, least, most }: Width): string {
  const cut = text.length > most ? text.slice(text.length - most) : text;
  const width = Math.min(least, MOST_PADDING);
  return left ? cut.padEnd(width) : cut.padStart(width);
}

/** Writes a time in UTC by a pattern of Java's SimpleDateFormat, or a name that log4j knows: ISO8601, ABSOLUTE, DATE. */
function datePattern(pattern: string): (time: Date) => string {
  const parts = [...(namedDates.get(pattern) ?? pattern).matchAll(DATE_TOKENS)].map(datePartOf);
  return (time) => parts.map((part) => part(time)).join("");
}

const ISO8601 = "yyyy-MM-dd'T'HH:mm:ss,SSS";

const namedDates: ReadonlyMap<string, string> = new Map([
  ["", ISO8601],
  ["ISO8601", ISO8601],
  ["ABSOLUTE", "HH:mm:ss,SSS"],
  ["DATE", "dd MMM yyyy HH:mm:ss,SSS"],
]);

// Quoted text (two quotes are one), a run of one letter, or another character.
const DATE_TOKENS = /''|'(?<quoted>(?:[^']|'')*)'|(?<run>(?<letter>[A-Za-z])\k<letter>*)|[\s\S]/g;

type DatePart = (time: Date) => string;

function datePartOf({ 0: token, groups = {} }: RegExpExecArray): DatePart {
  const { quoted, run, letter = "" } = groups;
  if (token === "''") return () => "'";
  if (quoted !== undefined) return () => quoted.replaceAll("''", "'");
  const field = dateFields.get(letter);
  return run === undefined || field === undefined ? () => token : (time) => field(time, run.length);
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const;
const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;

type DateField = (time: Date, width: number) => string;

const dateFields: ReadonlyMap<string, DateField> = new Map<string, DateField>([
  ["y", (time, width) => (width === 2 ? padded(time.getUTCFullYear() % 100, 2) : padded(time.getUTCFullYear(), width))],
  ["M", (time, width) => (width > 2 ? (months[time.getUTCMonth()] ?? "") : padded(time.getUTCMonth() + 1, width))],
  ["d", (time, width) => padded(time.getUTCDate(), width)],
  ["E", (time) => days[time.getUTCDay()] ?? ""],
  ["H", (time, width) => padded(time.getUTCHours(), width)],
  ["h", (time, width) => padded(time.getUTCHours() % 12 || 12, width)],
  ["a", (time) => (time.getUTCHours() < 12 ? "AM" : "PM")],
  ["m", (time, width) => padded(time.getUTCMinutes(), width)],
  ["s", (time, width) => padded(time.getUTCSeconds(), width)],
  ["S", (time, width) => padded(time.getUTCMilliseconds(), width)],
  ["z", () => "UTC"],
  ["Z", () => "+0000"],
  ["X", () => "Z"],
]);

function padded(value: number, width: number): string {
  return String(value).padStart(width, "0");
}
