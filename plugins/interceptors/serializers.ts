import { AgentError } from "deneb/sdk";

/**
 * Reads times by a pattern of Joda-Time, the one that Flume's millis serializer has: `yyyy-MM-dd HH:mm:ss.SSS Z`. A time
 * without a zone is one of this machine. Names of months and days are English.
 */
export class TimePattern {
  readonly #parts: readonly Part[];
  readonly #whole: RegExp;

  /** Throws code `TIME_PATTERN` for what cannot be read. */
  constructor(pattern: string) {
    const parts = partsOf(pattern);
    this.#parts = parts.filter(({ field }) => field !== undefined);
    this.#whole = new RegExp(`^${parts.map((part, index) => expressionOf(part, parts[index + 1])).join("")}$`, "i");
  }

  /** Milliseconds since 1970; undefined for a text that is not such a time. */
  millis(text: string): number | undefined {
    const [, ...found] = this.#whole.exec(text) ?? [undefined];
    if (found.length < this.#parts.length) return undefined;
    return millisOf(
      Object.assign({}, ...this.#parts.map(({ field, width }, index) => field?.read(found[index] ?? "", width))),
    );
  }
}

/** The parts of a time that a text gives. */
interface Time {
  readonly year?: number;
  /** From 1. */
  readonly month?: number;
  readonly day?: number;
  readonly hour?: number;
  readonly afternoon?: boolean;
  readonly minute?: number;
  readonly second?: number;
  readonly millis?: number;
  /** Minutes east of Greenwich. */
  readonly offset?: number;
}

interface Field {
  /** Digits, or the expression of a text. */
  readonly takes: "digits" | RegExp;
  /** The parts of a time in its text; `width` is the number of letters. */
  read(text: string, width: number): Time;
}

interface Part {
  readonly field: Field | undefined;
  /** Number of letters of a field. */
  readonly width: number;
  /** Of a part that is not a field. */
  readonly literal: string;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const monthName: Field = {
  takes: /(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,9}/,
  read: (text) => ({ month: months.indexOf(text.slice(0, 3).toLowerCase()) + 1 }),
};

const digits = (read: Field["read"]): Field => ({ takes: "digits", read });
const hourOfHalf = digits((text) => ({ hour: Number(text) % 12 }));

const fields: Readonly<Record<string, Field>> = {
  y: digits((text, width) => {
    const year = Number(text);
    return { year: width === 2 && text.length === 2 ? year + (year < 70 ? 2000 : 1900) : year };
  }),
  M: digits((text) => ({ month: Number(text) })),
  d: digits((text) => ({ day: Number(text) })),
  E: { takes: /[a-z]{3,9}/, read: () => ({}) },
  H: digits((text) => ({ hour: Number(text) })),
  k: digits((text) => ({ hour: Number(text) % 24 })),
  h: hourOfHalf,
  K: hourOfHalf,
  a: { takes: /[ap]m/, read: (text) => ({ afternoon: text.toLowerCase() === "pm" }) },
  m: digits((text) => ({ minute: Number(text) })),
  s: digits((text) => ({ second: Number(text) })),
  S: digits((text) => ({ millis: Number(text.slice(0, 3).padEnd(3, "0")) })),
  Z: {
    takes: /z|[+-]\d\d:?\d\d/,
    read: (text) => {
      const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)/.exec(text) ?? [];
      const offset = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
      return { offset: sign === "-" ? -offset : offset };
    },
  },
};

const TOKEN = /'(?<quoted>(?:[^']|'')*)'|(?<letters>(?<letter>[A-Za-z])\k<letter>*)|(?<plain>[^A-Za-z'])|(?<open>')/g;

function partsOf(pattern: string): readonly Part[] {
  const parts = [...pattern.matchAll(TOKEN)].map(({ groups = {} }) => {
    const { quoted, letters, letter, plain, open } = groups;
    if (open !== undefined) throw refused(pattern, "a quote is not closed");
    if (letters !== undefined && letter !== undefined) return fieldPart(letter, letters.length, pattern);
    // Two quotes are one.
    const literal = quoted === "" ? "'" : (quoted?.replaceAll("''", "'") ?? plain ?? "");
    return { field: undefined, width: 0, literal };
  });
  if (!parts.some(({ field }) => field === fields["y"])) throw refused(pattern, "it has no year (y)");
  return parts;
}

function fieldPart(letter: string, width: number, pattern: string): Part {
  const field = letter === "M" && width > 2 ? monthName : fields[letter === "Y" ? "y" : letter];
  if (field !== undefined) return { field, width, literal: "" };
  const known = Object.keys(fields).join(", ");
  throw refused(pattern, `"${letter}" is not known; known are ${known}, and texts in single quotes`);
}

/** Adjacent fields of digits are separated by the number of their letters. */
function expressionOf({ field, width, literal }: Part, next: Part | undefined): string {
  if (field === undefined) return literal.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  if (field.takes !== "digits") return `(${field.takes.source})`;
  return next?.field?.takes === "digits" ? `(\\d{${width}})` : "(\\d{1,9})";
}

function millisOf(time: Time): number | undefined {
  const { year = 1970, month = 1, day = 1, minute = 0, second = 0, millis = 0, offset, afternoon } = time;
  const hours = (time.hour ?? 0) + (afternoon === true ? 12 : 0);
  if (hours > 23 || minute > 59 || second > 59) return undefined;
  const date = new Date(Date.UTC(2000, month - 1, day, hours, minute, second, millis));
  // Set by itself: years below 100 would be others.
  date.setUTCFullYear(year, month - 1, day);
  const exists = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!exists || year > 9999) return undefined;
  if (offset !== undefined) return date.getTime() - offset * 60_000;
  const local = new Date(2000, 0, 1, hours, minute, second, millis);
  local.setFullYear(year, month - 1, day);
  return local.getTime();
}

function refused(pattern: string, reason: string): AgentError {
  return new AgentError("TIME_PATTERN", `reading the pattern "${pattern}": ${reason}`);
}

/** Converts the group of an expression to the text of a header; undefined where it does not have the form. */
export type Serializer = (text: string) => string | undefined;

/** The types of serializers, under their names in the file. */
export const serializerTypes = {
  default: "default",
  "org.apache.flume.interceptor.RegexExtractorInterceptorPassThroughSerializer": "default",
  millis: "millis",
  "org.apache.flume.interceptor.RegexExtractorInterceptorMillisSerializer": "millis",
} as const;

/** The type by its name in the file; undefined for an unknown one. */
export function serializerType(name: string): "default" | "millis" | undefined {
  return new Map<string, "default" | "millis">(Object.entries(serializerTypes)).get(name);
}

/** Makes the serializer of one group, from the settings `<name>.type` and `<name>.pattern`. */
export function serializerOf(name: string, settings: Readonly<Record<string, string>>): Serializer {
  if (serializerType(settings[`${name}.type`] ?? "default") !== "millis") return (text) => text;
  const pattern = new TimePattern(settings[`${name}.pattern`] ?? "");
  return (text) => {
    const millis = pattern.millis(text);
    return millis === undefined ? undefined : String(millis);
  };
}
