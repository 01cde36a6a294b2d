import { columnKey } from "deneb/ngsi";
import {
  type Cell,
  type Column,
  joinedRows,
  type MemberSql,
  memberChanges,
  type RemovedRows,
  rememberingColumns,
  rememberingUpserts,
  type Statement,
  type TableName,
  type TableRows,
  writtenColumns,
} from "deneb/sql";

/** Inserts rows by statements of bounded length and number of parameters. */
export function insert({ name, columns, rows }: TableRows): readonly Statement[] {
  const into = `INSERT INTO ${path(name)} (${columnList(columns)}) VALUES `;
  const row = `(${columns.map(() => "?").join(", ")})`;
  return chunks(rows, columns.length).map(({ size, runs }) => ({
    at: name,
    text: into + Array.from({ length: size }, () => row).join(", "),
    runs,
  }));
}

export const upsert = rememberingUpserts(({ name, columns, key, time, timeFormat, members }) => {
  const names = columns.map((column) => quoted(column.name));
  const own = quoted(time.name);
  const more: Cell[] = [];
  const parameter = (cell: Cell) => {
    more.push(cell);
    return "?";
  };
  const read = reader(time, timeFormat, parameter);
  const ifNewer = (column: string, value: () => string) => {
    const newer = `${own} IS NULL OR ${read(own)} < ${read(`VALUES(${own})`)}`;
    return `${column} = IF(${newer}, ${value()}, ${column})`;
  };
  const plainly = writtenColumns({ columns, key, members }).filter((column) => column.name !== time.name);
  const sql: MemberSql = {
    stored: quoted,
    parameter,
    // Without the collation of the column, for which some letters are the same.
    contains: (text, part) => `LOCATE(CAST(${part} AS BINARY), CAST(${text} AS BINARY)) > 0`,
    joined: (texts) => `CONCAT(${texts.join(", ")})`,
  };
  // Assignments are evaluated in order: these read the row as it was, and all of them read the time, so it comes last.
  const changes = [
    ...memberChanges(members, sql).map(({ column, value }) => ifNewer(quoted(column), value)),
    ...[...plainly.map((column) => quoted(column.name)), own].map((column) =>
      ifNewer(column, () => `VALUES(${column})`),
    ),
  ];
  const text = `
    INSERT INTO ${path(name)} (${names.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
    ON DUPLICATE KEY UPDATE ${changes.join(", ")}`;
  return { text, more };
});

export function remove({ name, key, cells, until }: RemovedRows): Statement {
  const run: Cell[] = [...cells];
  const parameter = (cell: Cell) => {
    run.push(cell);
    return "?";
  };
  const conditions = key.map((column) => `${quoted(column)} = ?`);
  if (until !== undefined) {
    const own = quoted(until.time.name);
    const read = reader(until.time, until.timeFormat, parameter);
    conditions.push(`(${own} IS NULL OR ${read(own)} <= ${read(parameter(until.cell))})`);
  }
  return { at: name, text: `DELETE FROM ${path(name)} WHERE ${conditions.join(" AND ")}`, runs: [run] };
}

/**
 * Reads a column as a comparable time; texts are parsed with the format, or are times in UTC as this sink writes them.
 */
function reader({ kind }: Column, timeFormat: string | undefined, parameter: (cell: string) => string) {
  if (kind !== "text") return (column: string) => column;
  if (timeFormat === undefined)
    return (column: string) => `REPLACE(REPLACE(REPLACE(UPPER(${column}), 'T', ' '), 'Z', ''), '"', '')`;
  return (column: string) => `STR_TO_DATE(${column}, ${parameter(timeFormat)})`;
}

const columnList = rememberingColumns((columns) => columns.map(({ name }) => quoted(name)).join(", "));

/** Rows for statements of `size` rows each; a run holds the cells of one statement. */
interface Chunk {
  readonly size: number;
  readonly runs: readonly (readonly Cell[])[];
}

const MOST_PARAMETERS = 65_535;
const MOST_ROWS = 100;
// A statement must fit into max_allowed_packet, 1 MiB in old settings; a row alone may be larger.
const MOST_CHARACTERS = 250_000;

/** Splits rows into statements of bounded length and number of parameters. */
function chunks(rows: readonly (readonly Cell[])[], columns: number): readonly Chunk[] {
  const most = Math.max(1, Math.min(MOST_ROWS, Math.floor(MOST_PARAMETERS / columns)));
  const cuts: (readonly (readonly Cell[])[])[] = [];
  let open: (readonly Cell[])[] = [];
  let characters = 0;
  for (const row of rows) {
    const length = row.reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
    if (open.length === most || (open.length > 0 && characters + length > MOST_CHARACTERS)) {
      cuts.push(open);
      open = [];
      characters = 0;
    }
    open.push(row);
    characters += length;
  }
  if (open.length > 0) cuts.push(open);
  return joined(cuts);
}

/** Joins consecutive statements of the same size to one text with several runs. */
function joined(cuts: readonly (readonly (readonly Cell[])[])[]): readonly Chunk[] {
  const chunks: { size: number; runs: (readonly Cell[])[] }[] = [];
  for (const cut of cuts) {
    const last = chunks.at(-1);
    if (last?.size === cut.length) last.runs.push(joinedRows(cut));
    else chunks.push({ size: cut.length, runs: [joinedRows(cut)] });
  }
  return chunks;
}

export function path({ schema, table }: TableName): string {
  return `${quoted(schema)}.${quoted(table)}`;
}

/** The same text for all names that the server takes for one column. */
export function keyOf(column: string): string {
  return columnKey(column, { database: "mysql", lowercase: false });
}

export function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}

/** A text as a literal that every session reads the same, whatever its character set. */
export function digitsOf(text: string): string {
  return `_utf8mb4 X'${hex(text)}'`;
}

/** The bytes of a text as hexadecimal digits. */
export function hex(text: string): string {
  return Buffer.from(text).toString("hex");
}
