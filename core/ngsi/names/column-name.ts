import { lowerCase, nameLimits, orUnderscore, shorten, withHash } from "./encoding.js";
import type { Naming } from "./naming.js";

/** What of the naming counts for columns. @stable */
export type ColumnNaming = Pick<Naming, "database" | "lowercase">;

/**
 * The column of an attribute, or of a member when given `attribute_member`: the name itself. In PostgreSQL and SQLite
 * its ASCII letters are in lower case; two names that differ in letter case only share a column. In MySQL they stay
 * unless lower case is asked for, and characters that it refuses in names become `_`, followed by a hash of the name.
 * @stable
 */
export function columnName(name: string, { database, lowercase }: ColumnNaming = postgresql): string {
  if (database === "mysql") return mysqlColumn(lowercase ? lowerCase(name) : name);
  return shorten(orUnderscore(lowerCase(name).replaceAll("\0", "_")), nameLimits[database]);
}

/** The same text for all names that the database considers the same column. @stable */
export function columnKey(column: string, { database }: ColumnNaming): string {
  return database === "mysql" ? mysqlKey(column) : lowerCase(column);
}

const postgresql: ColumnNaming = { database: "postgresql", lowercase: true };

// MySQL's names are of the Basic Multilingual Plane, without NUL, and end in no white space of ASCII.
const refusedByMysql = /[\0\u{10000}-\u{10ffff}]|\p{Surrogate}/gu;

function mysqlColumn(name: string): string {
  const plain = withoutEndingBlanks(name).replace(refusedByMysql, "_");
  return plain === name ? shorten(orUnderscore(name), nameLimits.mysql) : withHash(plain, name, nameLimits.mysql);
}

/** With one `_` for all blanks at the end. By hand: an expression for them takes quadratic time on blanks elsewhere. */
function withoutEndingBlanks(name: string): string {
  let end = name.length;
  while (isBlank(name.charCodeAt(end - 1))) end -= 1;
  return end === name.length ? name : `${name.slice(0, end)}_`;
}

/** Space, tab, line feed, vertical tab, form feed and carriage return. */
function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

/** The capitals that MySQL and MariaDB know in names of columns: those of an early Unicode. */
const CAPITALS =
  /[A-Z\u00c0-\u021f\u0222-\u0233\u0386-\u03ab\u03da-\u03ef\u0400-\u0481\u048c-\u04bf\u04c1-\u04c4\u04c7\u04cb\u04d0-\u04f5\u04f8\u0531-\u0556\u1e00-\u1e95\u1ea0-\u1ef9\u1f08-\u1fff\u2126\u212a\u212b\u2160-\u216f\u24b6-\u24cf\uff21-\uff3a]/g;

/**
 * The same text for names that MySQL takes for one column. It looks at each character alone, so the sigma of `ΟΔΟΣ` is not the
 * one at the end of `οδος`, and the dotted capital I is `i`.
 */
function mysqlKey(column: string): string {
  return column.replace(CAPITALS, (letter) => (letter === "İ" ? "i" : letter.toLowerCase()));
}
