import { RecentMap } from "deneb/sql";

const MOST_REMEMBERED = 1000;
const LONGEST_REMEMBERED = 16_000;

/** `($1, $2), ($3, $4)` for two rows of two columns. Remembered: writing it anew would cost more than all else in an insert. */
export function placeholders(rows: number, columns: number): string {
  const key = `${rows} ${columns}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;

  const text = Array.from({ length: rows }, (_, row) => tuple(row * columns, columns)).join(", ");
  if (text.length <= LONGEST_REMEMBERED) remembered.set(key, text);
  return text;
}

const remembered = new RecentMap<string>(MOST_REMEMBERED);

function tuple(before: number, columns: number): string {
  return `(${Array.from({ length: columns }, (_, column) => `$${before + column + 1}`).join(", ")})`;
}
