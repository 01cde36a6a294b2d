/** What identifies a row in the texts of the dialect. No attribute has a column of that name; a table of others may. */
export const ROW_ID = "_rowid_";

/** Other names of the same number. */
const NAMES: readonly string[] = [ROW_ID, "rowid", "oid"];
const DELETION = new RegExp(`^DELETE FROM ("(?:[^"]|"")+") WHERE ${ROW_ID} IN \\(SELECT ${ROW_ID} FROM `);
const LATER_FIRST = new RegExp(`, ${ROW_ID} DESC(?= LIMIT \\d+ OFFSET \\d+\\)$)`);

/** A column of a table, and whether the table is WITHOUT ROWID. */
export interface TableColumn {
  readonly name: string;
  /** The place in the primary key, from 1; 0 for others. */
  readonly inKey: number;
  readonly withoutRowId: boolean;
}

/** Deletes the rows of a table, whose name is quoted, that `which` selects. */
export function deletionOf(table: string, which: string): string {
  return `DELETE FROM ${table} WHERE ${ROW_ID} IN (SELECT ${ROW_ID} FROM ${table} ${which})`;
}

/**
 * The text of a deletion with what identifies a row in its table as that is now: a column of the name takes the place of the number,
 * and so one value could stand for many rows, or NULL for none.
 */
export function withRowId(text: string, columnsOf: (table: string) => readonly TableColumn[]): string {
  const table = DELETION.exec(text)?.[1];
  if (table === undefined) return text;
  const columns = columnsOf(table.slice(1, -1).replaceAll('""', '"'));
  const taken = new Set(columns.map(({ name }) => name.toLowerCase()));
  const isByKey = columns.some(({ withoutRowId }) => withoutRowId);
  const id = isByKey ? keyOf(columns) : NAMES.find((name) => !taken.has(name));
  if (id === undefined) throw withoutId(table);
  if (id === ROW_ID) return text;
  const [one, several] = isByKey ? [`(${id})`, id] : [id, id];
  const begun = text.replace(DELETION, () => `DELETE FROM ${table} WHERE ${one} IN (SELECT ${several} FROM `);
  return begun.replace(LATER_FIRST, () => (isByKey ? "" : `, ${id} DESC`));
}

function keyOf(columns: readonly TableColumn[]): string {
  const key = columns.filter(({ inKey }) => inKey > 0).sort((one, other) => one.inKey - other.inKey);
  return key.map(({ name }) => `"${name.replaceAll('"', '""')}"`).join(", ");
}

function withoutId(table: string): Error {
  const message = `table ${table} has columns ${NAMES.join(", ")}, so that nothing identifies its rows; rename one of them`;
  return Object.assign(new Error(message), { code: "SQLITE_ERROR" });
}
