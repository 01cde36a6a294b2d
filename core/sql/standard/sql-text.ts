import type { Column } from "../contract/column.js";
import type { BoundedRows, Dialect, GuardedChange, TableRows } from "../contract/dialect.js";
import { type Cell, joinedRows, type KeyedRows, type Statement, type TableName } from "../contract/statement.js";

/** What differs between databases in statements that check the number of changed rows. @beta */
export interface GuardedSql {
  path(name: TableName): string;
  quoted(name: string): string;
  /** The placeholder of a parameter by its number, from 1. */
  parameter(number: number): string;
  /** The comparison in which NULL equals NULL. */
  readonly same: string;
  /** The type of an integer in a CAST. */
  readonly integer: string;
  /** Follows an INSERT that skips existing rows; empty where the violation of the key reports them. */
  readonly unlessThere: string;
  /** Ends a statement whose changes are counted by the rows that it returns. */
  readonly returning: string;
}

/** The statements of a dialect that state how many rows they must change. @beta */
export function guarded(sql: GuardedSql): Pick<Dialect, "insertNew" | "changeKnown"> {
  const set = (column: string, number: number) => `${sql.quoted(column)} = ${sql.parameter(number)}`;
  return {
    insertNew: ({ name, columns, rows }: TableRows): readonly Statement[] => {
      const names = columns.map((column) => sql.quoted(column.name)).join(", ");
      const values = columns.map((_, index) => sql.parameter(index + 1)).join(", ");
      const text = `INSERT INTO ${sql.path(name)} (${names}) VALUES (${values})${sql.unlessThere}${sql.returning}`;
      return [{ at: name, text, runs: rows, changes: 1 }];
    },
    changeKnown: ({ name, key, known, next, counter }: GuardedChange): Statement => {
      const cells: Cell[] = [];
      const number = (cell: Cell) => cells.push(cell);
      const own = sql.quoted(counter.column);
      const changes = [
        ...next.map(([column, cell]) => set(column, number(cell))),
        `${own} = COALESCE(${own}, 0) + CAST(${sql.parameter(number(String(counter.by)))} AS ${sql.integer})`,
      ];
      const conditions = [
        ...key.map(([column, cell]) => set(column, number(cell))),
        ...known.map(([column, cell]) => `${sql.quoted(column)} ${sql.same} ${sql.parameter(number(cell))}`),
      ];
      const text = `UPDATE ${sql.path(name)} SET ${changes.join(", ")} WHERE ${conditions.join(" AND ")}${sql.returning}`;
      return { at: name, text, runs: [cells], changes: 1 };
    },
  };
}

/** A SELECT of the rows with a key, or of all rows where the key is empty. @beta */
export function keyedSelect(
  columns: readonly string[],
  { name, key, cells }: KeyedRows,
  { path, quoted, parameter }: Pick<GuardedSql, "path" | "quoted" | "parameter">,
): Statement {
  const conditions = key.map((column, index) => `${quoted(column)} = ${parameter(index + 1)}`).join(" AND ");
  const where = conditions === "" ? "" : ` WHERE ${conditions}`;
  return { at: name, text: `SELECT ${columns.map(quoted).join(", ")} FROM ${path(name)}${where}`, runs: [cells] };
}

/** A SELECT with a bounded result, whatever the rows contain. @beta */
export function boundedSelect(
  { name, columns, key, cells, latestBy, mostRows, mostCharacters }: BoundedRows,
  { path, quoted, parameter }: Pick<GuardedSql, "path" | "quoted" | "parameter">,
): Statement {
  const wanted = columns.map((column) => `substr(${quoted(column)}, 1, ${mostCharacters})`).join(", ");
  const conditions = key.map((column, index) => `${quoted(column)} = ${parameter(index + 1)}`).join(" AND ");
  const order = `CASE WHEN ${quoted(latestBy)} IS NULL THEN 1 ELSE 0 END, ${quoted(latestBy)} DESC`;
  const text = `SELECT ${wanted} FROM ${path(name)} WHERE ${conditions} ORDER BY ${order} LIMIT ${mostRows}`;
  return { at: name, text, runs: [cells] };
}

/** Quotes an identifier as in standard SQL. @beta */
export function quoted(name: string): string {
  return name.includes('"') ? `"${name.replaceAll('"', '""')}"` : `"${name}"`;
}

/** Memoizes the text of a list of columns: most tables share one list. @beta */
export function rememberingColumns(
  text: (columns: readonly Column[]) => string,
): (columns: readonly Column[]) => string {
  const known = new WeakMap<readonly Column[], string>();
  return (columns) => {
    const remembered = known.get(columns);
    if (remembered !== undefined) return remembered;

    const made = text(columns);
    known.set(columns, made);
    return made;
  };
}

/** The quoted names of columns, as in an INSERT. @beta */
export const columnList = rememberingColumns((columns) => columns.map(({ name }) => quoted(name)).join(", "));

/** The runs of INSERTs with up to `most` rows each: the full ones, and one for the rest. */
export function insertedTogether(
  rows: TableRows["rows"],
  most: number,
): readonly { readonly count: number; readonly runs: readonly (readonly Cell[])[] }[] {
  const whole = rows.length - (rows.length % most);
  const starts = Array.from({ length: whole / most }, (_, index) => index * most);
  return [
    { count: most, runs: starts.map((at) => joinedRows(rows, at, at + most)) },
    { count: rows.length - whole, runs: [joinedRows(rows, whole)] },
  ].filter(({ count, runs }) => count > 0 && runs.length > 0);
}
