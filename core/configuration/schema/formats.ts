import type { FormatName, Property } from "../../sdk/index.js";

/** How a format converts a text, and why it rejects a value. */
export interface Format {
  /** The typed value, or the text itself where it is not of this format. */
  coerce(text: string): unknown;
  /** What is allowed, as the reason of a fault; undefined when the value is valid. */
  reason(value: unknown, property: Property): string | undefined;
}

/** Names of the formats that read one text; the format `map` is not among them, it reads many. */
export type TextFormat = Exclude<FormatName, "map"> | "choice";

/** Maximum delay of a timer; above it Node waits one millisecond. */
const LONGEST_TIMER = 2 ** 31 - 1;

export const formats = {
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
      return within(value, range) ? undefined : `must be ${noun}${rangeText(range)}`;
    },
  };
}

function wholeNumber(text: string): number | string {
  return /^-?\d+$/.test(text.trim()) ? Number(text) : text;
}

function within(value: unknown, { min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER }: Range): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;
}

function rangeText({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return `, ${min} or more`;
  return max === undefined ? "" : `, ${max} or less`;
}

function textReason(value: unknown, { maxLength }: Property): string | undefined {
  if (typeof value !== "string") return "must be a text";
  const length = [...value].length;
  return maxLength === undefined || length <= maxLength
    ? undefined
    : `must be at most ${maxLength} characters long, not ${length}`;
}

function millisListReason(value: unknown, { min = 1, max = LONGEST_TIMER }: Property): string | undefined {
  const right = Array.isArray(value) && value.length > 0 && value.every((entry) => within(entry, { min, max }));
  return right ? undefined : `must be a list of whole numbers of milliseconds${rangeText({ min, max })}`;
}

function choicesOf(format: Property["format"]): readonly string[] {
  return typeof format === "string" ? [] : format;
}
