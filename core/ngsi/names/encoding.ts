import { createHash } from "node:crypto";
import type { Database, Naming } from "./naming.js";

/** What the old encoding keeps besides letters, digits and `_`. */
export type Kept = "nothing else" | "dots and dashes";

/** The letters that the new encoding leaves as they are: PostgreSQL folds names to lower case, MySQL does not. */
export type KeptLetters = "lower case" | "both cases";

/** The old encoding: each character that is neither an ASCII letter or digit nor kept becomes `_`. */
export function replaceOdd(name: string, kept: Kept): string {
  return name.replace(oddCharacters[kept], "_");
}

/**
 * The new encoding: ASCII letters that are kept, digits and `_` stay, `=` becomes `xffff`, any other UTF-16 unit `x` and
 * four hex digits. An `x` that four hex digits follow is doubled.
 */
export function encodeName(name: string, letters: KeptLetters = "lower case"): string {
  return name.replace(encodedCharacters[letters], encodeUnit);
}

/** Lower case for ASCII letters only, as PostgreSQL folds names; the same in every locale. @stable */
export function lowerCase(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The name in lower case, except in MySQL without `lowercase`. */
export function folded(name: string, { database, lowercase }: Naming): string {
  return database === "mysql" && !lowercase ? name : lowerCase(name);
}

/** `_` for an empty name. */
export function orUnderscore(name: string): string {
  return name === "" ? "_" : name;
}

const oddCharacters = {
  "nothing else": /[^A-Za-z0-9]/gu,
  "dots and dashes": /[^A-Za-z0-9.-]/gu,
} satisfies Record<Kept, RegExp>;

const encodedCharacters = {
  "lower case": /x(?=[0-9a-fA-F]{4})|[^a-z0-9_]/g,
  "both cases": /x(?=[0-9a-fA-F]{4})|[^A-Za-z0-9_]/g,
} satisfies Record<KeptLetters, RegExp>;

function encodeUnit(unit: string): string {
  if (unit === "x") return "xx";
  return unit === "=" ? "xffff" : `x${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** The longest name a database takes, in UTF-8 bytes or in characters. */
export interface NameLimit {
  readonly length: number;
  readonly unit: "bytes" | "characters";
}

/** The limit of each database; that of PostgreSQL holds for SQLite too, so that a move keeps the names. @stable */
export const nameLimits = {
  postgresql: { length: 63, unit: "bytes" },
  mysql: { length: 64, unit: "characters" },
  sqlite: { length: 63, unit: "bytes" },
} as const satisfies Record<Database, NameLimit>;

/**
 * The name itself when it is within the limit; else as many of its characters as fit before `_` and eight hex digits
 * of the SHA-256 of the full name. A plain number counts bytes; the limit is 10 or more.
 * @stable
 */
export function shorten(name: string, limit: NameLimit | number = nameLimits.postgresql): string {
  const { length, unit } = typeof limit === "number" ? { length: limit, unit: "bytes" as const } : limit;
  return sizes[unit](name) <= length ? name : withHash(name, name, { length, unit });
}

/** A name cut to fit, `_` and eight hex digits of the SHA-256 of the origin: the same for the same origin. */
export function withHash(name: string, origin: string, { length, unit }: NameLimit): string {
  const suffix = `_${createHash("sha256").update(origin).digest("hex").slice(0, 8)}`;
  return cuts[unit](name, length - suffix.length) + suffix;
}

const sizes = {
  bytes: (name: string) => Buffer.byteLength(name),
  characters: (name: string) => name.length,
} as const;

const cuts = { bytes: cutBytes, characters: cutUnits } as const;

function cutBytes(name: string, atMost: number): string {
  const bytes = Buffer.from(name);
  let end = Math.min(atMost, bytes.length);
  while (end < bytes.length && (bytes.readUInt8(end) & 0b1100_0000) === 0b1000_0000) end -= 1;
  return bytes.toString("utf8", 0, end);
}

// Names for MySQL hold no surrogates, see column-name.ts, so its characters are UTF-16 units.
function cutUnits(name: string, atMost: number): string {
  return name.slice(0, atMost);
}

/**
 * The name of a schema or database that was made of a service: itself when it is exactly the service, or the encoded
 * service; else with a hash of the service, so that no two services have the same one.
 * @stable
 */
export function withServiceHash(name: string, service: string, { database, encoding }: Naming): string {
  const plain = encoding ? encodeName(service, database === "mysql" ? "both cases" : "lower case") : service;
  return name === plain ? name : withHash(name, service, nameLimits[database]);
}
