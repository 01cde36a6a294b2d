import { createHash } from "node:crypto";
import type { Database } from "./naming.js";

/** The longest name a database takes, in UTF-8 bytes or in characters. */
export interface NameLimit {
  readonly length: number;
  readonly unit: "bytes" | "characters";
}

/** The limit of each database; that of PostgreSQL holds for SQLite too, so that a move keeps the names. */
export const nameLimits = {
  postgresql: { length: 63, unit: "bytes" },
  mysql: { length: 64, unit: "characters" },
  sqlite: { length: 63, unit: "bytes" },
} as const satisfies Record<Database, NameLimit>;

/**
 * The name itself when it is within the limit; else as many of its characters as fit before `_` and eight hex digits
 * of the SHA-256 of the full name. A plain number counts bytes; the limit is 10 or more.
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
