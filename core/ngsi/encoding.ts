/** What the old encoding leaves as it is besides letters, digits and `_`. */
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

/** Lower case for ASCII letters only, as PostgreSQL folds names; the same in every locale. */
export function lowerCase(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
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
