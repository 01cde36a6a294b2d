import type { Column } from "./column.js";
import { type Cell, type KeyedRows, type Statement, type TableName, tableKey } from "./statement.js";

/** A row of last data: there is one for each key, and only a newer one replaces it. @beta */
export interface LastRow {
  readonly name: TableName;
  /** Only the columns that the row has; others keep their values. */
  readonly columns: readonly Column[];
  readonly cells: readonly Cell[];
  readonly key: readonly string[];
  /** The column that determines which row is newer, and the format of its text where the database needs one. */
  readonly time: Column;
  readonly timeFormat: string | undefined;
  /** Further changes of a stored row, written by {@link memberChanges}; undefined for none. */
  readonly members: MemberChanges | undefined;
}

/** Changes of a stored row that depend on a text column of it, the list. @beta */
export interface MemberChanges {
  readonly list: string;
  /** Columns that become NULL if the list contains one of these entries. */
  readonly emptied: readonly { readonly column: string; readonly entries: readonly string[] }[];
  /** Entries that the list gets, and that it loses. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

/** Rows to delete: all with this key, or only those whose time is not after this one. @beta */
export interface RemovedRows extends KeyedRows {
  readonly until?: { readonly time: Column; readonly cell: string; readonly timeFormat: string | undefined };
}

/** What differs between databases in {@link memberChanges}. @beta */
export interface MemberSql {
  /** The column of the stored row. */
  stored(column: string): string;
  /** Adds a parameter, and returns its placeholder. */
  parameter(cell: string): string;
  /** Whether a text contains another one, byte by byte. */
  contains(text: string, part: string): string;
  joined(texts: readonly string[]): string;
}

/**
 * The columns of a stored row that change besides those that are written, each with an expression for its new value.
 * The list comes last: the others read it as it was.
 * @beta
 */
export function memberChanges(
  members: MemberChanges | undefined,
  { stored, parameter, contains, joined }: MemberSql,
): readonly { readonly column: string; value(): string }[] {
  if (members === undefined) return [];
  const { list, emptied, added, removed } = members;
  const own = stored(list);
  const isListed = (entry: string) => contains(own, parameter(entry));
  const left = () =>
    removed.reduce((text, entry) => `replace(${text}, ${parameter(entry)}, '')`, `coalesce(${own}, '')`);
  const more = (entry: string) => `CASE WHEN ${isListed(entry)} THEN '' ELSE ${parameter(entry)} END`;
  const changes = emptied.map(({ column, entries }) => ({
    column,
    value: () => `CASE WHEN ${entries.map(isListed).join(" OR ")} THEN NULL ELSE ${stored(column)} END`,
  }));
  if (added.length === 0 && removed.length === 0) return changes;
  return [...changes, { column: list, value: () => joined([left(), ...added.map(more)]) }];
}

/** The columns that a newer row writes: all but the key and the list of members. @beta */
export function writtenColumns({
  columns,
  key,
  members,
}: Pick<LastRow, "columns" | "key" | "members">): readonly Column[] {
  return columns.filter(({ name }) => !key.includes(name) && name !== members?.list);
}

/** The text of an upsert, and its parameters after the cells of the row. @beta */
export interface UpsertText {
  readonly text: string;
  readonly more: readonly Cell[];
}

/** Memoizes the text of upserts: most rows of a batch share their columns, and it takes longer than the rest. @beta */
export function rememberingUpserts(write: (row: LastRow) => UpsertText): (row: LastRow) => Statement {
  const known = new WeakMap<readonly Column[], { readonly row: LastRow; readonly written: UpsertText }>();
  return (row) => {
    const last = known.get(row.columns);
    const written = last !== undefined && isAlike(last.row, row) ? last.written : write(row);
    if (written !== last?.written) known.set(row.columns, { row, written });
    return { at: row.name, text: written.text, runs: [[...row.cells, ...written.more]] };
  };
}

/** Whether two rows with the same columns differ in their cells only. */
function isAlike(one: LastRow, other: LastRow): boolean {
  return (
    one.members === other.members &&
    one.time.name === other.time.name &&
    one.time.kind === other.time.kind &&
    one.timeFormat === other.timeFormat &&
    one.key.length === other.key.length &&
    one.key.every((column, index) => column === other.key[index]) &&
    tableKey(one.name) === tableKey(other.name)
  );
}
