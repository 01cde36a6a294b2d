import { keyOf } from "./statements.js";

/** From this number of columns on the server finds them by a hash of their names (`MAX_FIELDS_BEFORE_HASH`). */
const HASHED_FROM = 32;

/**
 * The key, among those of all columns of a table, of another column that the server may find where this one is named. In a table
 * of 32 and more it looks for names as long as this one in bytes, in a collation without accents: `é` is `è` there.
 */
export function mistaken(column: string, keys: ReadonlySet<string>): string | undefined {
  if (keys.size < HASHED_FROM || ASCII.test(column)) return undefined;
  const key = keyOf(column);
  const hashed = hashedAs(key);
  for (const other of keys) if (other !== key && hashedAs(other) === hashed) return other;
  return undefined;
}

const ASCII = /^[\0-\x7f]*$/;

function hashedAs(key: string): string {
  if (ASCII.test(key)) return key;
  return `${Buffer.byteLength(key)} ${key.replace(LETTERS, plainLetter)}`;
}

/** The letters that `utf8mb3_general_ci` knows with and without accents. */
const LETTERS = /[\u00b5-\u024f\u0370-\u04ff\u1e00-\u1fff]|\u0345/g;

function plainLetter(letter: string): string {
  const own = OWN.get(letter);
  if (own !== undefined) return own;
  const [base = letter] = letter.normalize("NFD");
  const upper = base.toUpperCase();
  return upper.length === 1 ? upper.toLowerCase() : base;
}

/** Letters of which the collation makes others than Unicode does. */
const OWN: ReadonlyMap<string, string> = new Map([
  ["ß", "s"],
  ["ϲ", "σ"],
  ["й", "й"],
]);
