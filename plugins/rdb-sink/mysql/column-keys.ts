import { keyOf } from "./statements.js";

/** What decides, beside the letters, whether a server confuses two columns of a wide table: MariaDB asks for their bytes, MySQL does not. */
export type ComparedBy = "letters" | "letters and bytes";

/** How a server finds a column by its name. */
export interface ColumnRules {
  /** Undefined where each name finds its own column. */
  readonly confusesBy: ComparedBy | undefined;
  /** The same text for all names that it takes for one. */
  keyOf(column: string): string;
}

/** Until a server was asked. */
export const USUAL: ColumnRules = { confusesBy: "letters and bytes", keyOf };

export function columnRules({ isMariaDb, foldsUnicode }: ServerOfColumns): ColumnRules {
  if (foldsUnicode) return { confusesBy: undefined, keyOf: foldedKeyOf };
  return { confusesBy: isMariaDb ? "letters and bytes" : "letters", keyOf };
}

interface ServerOfColumns {
  readonly isMariaDb: boolean;
  /** As MariaDB does from 11.5 on (`utf8mb3_general1400_as_ci`); before, it knows the capitals of an early Unicode. */
  readonly foldsUnicode: boolean;
}

const ASCII = /^[\0-\x7f]*$/;
const BEYOND_ASCII = /[\u0080-\uffff]/g;

/** One letter has one key: both sigmas are one, and so are the sign of micro and the Greek letter. */
function foldedKeyOf(column: string): string {
  if (ASCII.test(column)) return column.toLowerCase();
  return column.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replace(BEYOND_ASCII, folded);
}

/** Letters of which the small one belongs to another capital. */
const APART = /[\u0130\u03f4\u1e9e\u2126\u212a\u212b]/;

function folded(letter: string): string {
  if (APART.test(letter)) return letter;
  const capital = single(letter.toUpperCase(), letter);
  return single(capital.toLowerCase(), capital);
}

/** The letter that became several, as `ß` does, is its own capital. */
function single(changed: string, letter: string): string {
  return changed.length === 1 ? changed : letter;
}
