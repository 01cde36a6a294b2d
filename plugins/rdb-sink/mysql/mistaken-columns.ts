import type { ColumnRules } from "./column-keys.js";

/** From this number of columns on the server finds them by a hash of their names (`MAX_FIELDS_BEFORE_HASH`). */
const HASHED_FROM = 32;

/**
 * The key, among those of all columns of a table, of another column that the server may find where this one is named. In a table
 * of 32 and more it looks for the name in a collation without accents: `é` is `è` there, and in MySQL `e`, too. MariaDB does not from 11.5 on.
 */
export function mistaken(
  column: string,
  keys: ReadonlySet<string>,
  { confusesBy: by, keyOf }: ColumnRules,
): string | undefined {
  if (by === undefined || keys.size < HASHED_FROM || (by === "letters and bytes" && ASCII.test(column)))
    return undefined;
  const key = keyOf(column);
  const alike = hashedKeys(keys).get(hashedAs(key)) ?? [];
  const bytes = Buffer.byteLength(key);
  return alike.find((other) => other !== key && (by === "letters" || Buffer.byteLength(other) === bytes));
}

/** The keys by what they are hashed as; of each set once. */
function hashedKeys(keys: ReadonlySet<string>): ReadonlyMap<string, readonly string[]> {
  const known = hashed.get(keys);
  if (known !== undefined) return known;
  const made = new Map<string, string[]>();
  for (const key of keys) {
    const as = hashedAs(key);
    made.set(as, [...(made.get(as) ?? []), key]);
  }
  hashed.set(keys, made);
  return made;
}

const hashed = new WeakMap<ReadonlySet<string>, ReadonlyMap<string, readonly string[]>>();

const ASCII = /^[\0-\x7f]*$/;

function hashedAs(key: string): string {
  return ASCII.test(key) ? key : key.replace(LETTERS, plainLetter);
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
