import convict from "convict";
import type { FormatName, Property, Schema } from "../../sdk/index.js";

/** The valid values of a schema, and the reason for each value that is not valid. */
interface TypedValues {
  readonly values: ReadonlyMap<string, unknown>;
  readonly reasons: ReadonlyMap<string, string>;
}

/** What was given for a property: its text, or for the format `map` its entries. */
type Contents = ReadonlyMap<string, string | Readonly<Record<string, string>>>;

/** Converts and validates the given values, and the defaults of the other properties. */
export function typedValues(schema: Schema, contents: Contents): TypedValues {
  const maps = Object.entries(schema)
    .filter(([, property]) => property.format === "map")
    .map(([name, property]) => [name, contents.get(name) ?? property.default] as const);
  const texts = Object.entries(schema).filter(([, property]) => property.format !== "map");
  const { values, reasons } = readByConvict(texts, contents);
  return { values: new Map([...values, ...maps].filter(([, value]) => value !== undefined)), reasons };
}

// convict gets no environment and no arguments: precedence is decided before, where the location of a value is known.
function readByConvict(properties: readonly (readonly [string, Property])[], contents: Contents): TypedValues {
  const reasons = new Map<string, string>();
  const entries = properties.map(([name, property]) => [
    escaped(name),
    entry(property, (reason) => reasons.set(name, reason)),
  ]);
  const config = convict<Record<string, unknown>>(Object.fromEntries(entries), { env: {}, args: [] });
  config.load(
    Object.fromEntries(
      properties.flatMap(([name]) => (contents.has(name) ? [[escaped(name), contents.get(name)]] : [])),
    ),
  );
  config.validate({ allowed: "strict" });
  const typed = config.getProperties();
  const values = properties.map(([name]) => [name, typed[escaped(name)]] as const);
  return { values: new Map(values.filter(([name]) => !reasons.has(name))), reasons };
}

/** convict reads dots as nesting, while `backend.enable_cache` is one name. */
function escaped(name: string): string {
  return encodeURIComponent(name).replaceAll(".", "%2E");
}

type Report = (reason: string) => void;

function entry(property: Property, report: Report) {
  const format = typeof property.format === "string" ? property.format : textFormatOf(property.format);
  return { doc: property.doc, format, default: property.default, property, report };
}

function textFormatOf(format: object): "choice" | "choices" {
  return Array.isArray(format) ? "choice" : "choices";
}

/** The schema entry of a property, as convict passes it to a format. */
interface Entry extends convict.SchemaObj<unknown> {
  readonly property: Property;
  readonly report: Report;
}

// convict joins the messages of all invalid values into one text; a callback keeps the reasons by property.
function convictFormat({ coerce, reason }: Format) {
  return {
    coerce,
    validate: (value: unknown, { property, report }: Entry): void => {
      const refused = reason(value, property);
      if (refused !== undefined) report(refused);
    },
  };
}

/** How a format converts a text, and why it rejects a value. */
interface Format {
  /** The typed value, or the text itself where it is not of this format. */
  coerce(text: string): unknown;
  /** What is allowed, as the reason of a fault; undefined when the value is valid. */
  reason(value: unknown, property: Property): string | undefined;
}

/** Names of the formats that read one text; the format `map` is not among them, it reads many. */
type TextFormat = Exclude<FormatName, "map"> | "choice" | "choices";

/** Maximum delay of a timer; above it Node waits one millisecond. */
const LONGEST_TIMER = 2 ** 31 - 1;

const formats = {
  text: { coerce: (text) => text, reason: textReason },
  flag: {
    coerce: (text) => flags.get(text.trim()) ?? text,
    reason: (value) => (typeof value === "boolean" ? undefined : "must be exactly true or false"),
  },
  count: numberFormat("a whole number", { min: 0 }),
  integer: numberFormat("a whole number", {}),
  port: numberFormat("a whole number", { min: 0, max: 65_535 }),
  millis: numberFormat("a whole number of milliseconds", { min: 0, max: LONGEST_TIMER }),
  seconds: numberFormat("a whole number of seconds", { min: 0, max: Math.floor(LONGEST_TIMER / 1000) }),
  words: {
    coerce: words,
    reason: (value) => (Array.isArray(value) ? undefined : "must be a list separated by blanks or commas"),
  },
  "millis-list": { coerce: (text) => words(text).map(wholeNumber), reason: millisListReason },
  choice: {
    coerce: (text) => text.trim(),
    reason: (value, { format }) =>
      choicesOf(format).some((choice) => choice === value)
        ? undefined
        : `must be one of: ${choicesOf(format).join(", ")}`,
  },
  choices: { coerce: words, reason: choicesReason },
} satisfies Record<TextFormat, Format>;

/** The words of a list separated by blanks or commas. */
export function words(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

const flags: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

interface Range {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

function numberFormat(noun: string, own: Range): Format {
  return {
    coerce: wholeNumber,
    reason: (value, property) => {
      const range = { min: property.min ?? own.min, max: property.max ?? own.max };
      return within(value, range) ? undefined : `must be ${noun}${rangeText(shownRange(value, range))}`;
    },
  };
}

function wholeNumber(text: string): number | string {
  return /^-?\d+$/.test(text.trim()) ? Number(text) : text;
}

function within(value: unknown, { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER }: Range): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}

/** The limit of all numbers is said where it is passed. */
function shownRange(value: unknown, { min, max }: Range): Range {
  if (typeof value !== "number") return { min, max };
  return {
    min: min ?? (value < Number.MIN_SAFE_INTEGER ? Number.MIN_SAFE_INTEGER : undefined),
    max: max ?? (value > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : undefined),
  };
}

function rangeText({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return `, ${min} or more`;
  return max === undefined ? "" : `, ${max} or less`;
}

function textReason(value: unknown, { maxLength, resource }: Property): string | undefined {
  if (typeof value !== "string") return "must be a text";
  if (resource === "url" && value !== "" && !isUrl(value)) return "must be a URL such as https://host:8443/path";
  const length = [...value].length;
  return maxLength === undefined || length <= maxLength
    ? undefined
    : `must be at most ${maxLength} characters long, not ${length}`;
}

/** Those of other schemes may name several hosts, which no URL of HTTP can. */
function isUrl(text: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\/./i.test(text) && (URL.canParse(text) || !/^https?:/i.test(text));
}

function millisListReason(value: unknown, { min = 1, max = LONGEST_TIMER }: Property): string | undefined {
  const right = Array.isArray(value) && value.length > 0 && value.every((entry) => within(entry, { min, max }));
  return right ? undefined : `must be a list of whole numbers of milliseconds${rangeText({ min, max })}`;
}

function choicesReason(value: unknown, { format }: Property): string | undefined {
  const allowed = choicesOf(format);
  const strange = Array.isArray(value) ? value.find((one) => !allowed.includes(one)) : value;
  if (strange === undefined) return undefined;
  return `must be a list of: ${allowed.join(", ")}; ${JSON.stringify(strange)} is none of them`;
}

/** The texts that a property allows; none when it allows others too. */
export function choicesOf(format: Property["format"]): readonly string[] {
  if (typeof format === "string" || "fields" in format) return [];
  return "listOf" in format ? format.listOf : format;
}

convict.addFormats(
  Object.fromEntries(Object.entries<Format>(formats).map(([name, format]) => [name, convictFormat(format)])),
);
