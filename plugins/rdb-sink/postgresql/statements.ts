import {
  type Cell,
  type Column,
  columnList,
  joinedRows,
  memberChanges,
  quoted,
  RecentMap,
  type RemovedRows,
  rememberingUpserts,
  type Statement,
  type TableName,
  type TableRows,
  writtenColumns,
} from "deneb/sql";
import { fitting } from "../viewed.js";

const MOST_PARAMETERS = 65_535;
// Measured: larger statements cost the server more to parse than they save; a full one is parsed once and run
// repeatedly.
const ROWS_PER_STATEMENT = 100;

/** Inserts rows by statements of at most 100. */
export function insert({ name, columns, rows }: TableRows): readonly Statement[] {
  const size = Math.max(1, Math.min(ROWS_PER_STATEMENT, Math.floor(MOST_PARAMETERS / columns.length)));
  const full: (readonly Cell[])[] = [];
  let start = 0;
  for (; start + size <= rows.length; start += size) full.push(joinedRows(rows, start, start + size));
  const rest = rows.length - start;

  const into = `INSERT INTO ${path(name)} (${columnList(columns)}) VALUES `;
  return [
    ...(full.length === 0 ? [] : [{ at: name, text: into + placeholders(size, columns.length), runs: full }]),
    ...(rest === 0
      ? []
      : [{ at: name, text: into + placeholders(rest, columns.length), runs: [joinedRows(rows, start, rows.length)] }]),
  ];
}

/** Inserts a row of last data, or updates the stored one if this one is newer. */
export const upsert = rememberingUpserts(({ name, columns, key, time, timeFormat, members }) => {
  const more: Cell[] = [];
  const parameter = (cell: Cell) => `$${columns.length + more.push(cell)}::text`;
  const values = columns.map((_, index) => `$${index + 1}`).join(", ");
  const written = writtenColumns({ columns, key, members }).map((column) => quoted(column.name));
  const changes = [
    ...written.map((column) => `${column} = EXCLUDED.${column}`),
    ...memberChanges(members, {
      stored: (column) => `stored.${quoted(column)}`,
      parameter,
      contains: (text, part) => `strpos(${text}, ${part}) > 0`,
      joined: (texts) => texts.join(" || "),
    }).map(({ column, value }) => `${quoted(column)} = ${value()}`),
  ];
  const own = quoted(time.name);
  const read = reader(time, timeFormat, parameter);
  const text = `
    INSERT INTO ${path(name)} AS stored (${columns.map((column) => quoted(column.name)).join(", ")}) VALUES (${values})
    ON CONFLICT (${key.map(quoted).join(", ")}) DO UPDATE SET ${changes.join(", ")}
    WHERE stored.${own} IS NULL OR ${read(`stored.${own}`)} < ${read(`EXCLUDED.${own}`)}`;
  return { text, more };
});

/** Deletes rows of last data. */
export function remove({ name, key, cells, until }: RemovedRows): Statement {
  const run: Cell[] = [...cells];
  const conditions = key.map((column, index) => `${quoted(column)} = $${index + 1}`);
  if (until !== undefined) {
    const own = quoted(until.time.name);
    const given = `$${run.push(until.cell)}${until.time.kind === "text" ? "::text" : ""}`;
    const read = reader(until.time, until.timeFormat, (cell) => `$${run.push(cell)}::text`);
    conditions.push(`(${own} IS NULL OR ${read(own)} <= ${read(given)})`);
  }
  return { at: name, text: `DELETE FROM ${path(name)} WHERE ${conditions.join(" AND ")}`, runs: [run] };
}

/** Reads texts as comparable times, with the format or as ISO 8601; other columns are comparable. */
function reader({ kind }: Column, timeFormat: string | undefined, parameter: (cell: Cell) => string) {
  if (kind !== "text") return (column: string) => column;
  if (timeFormat === undefined) return utc;
  const [text, format] = withZone(timeFormat);
  const given = parameter(format);
  return (column: string) => `to_timestamp(${text}${column}, ${given})`;
}

/** What is put before a text, and the format that reads both: in UTC, unless the format reads a zone. */
function withZone(format: string): readonly [text: string, format: string] {
  if (/TZ|OF/i.test(format.replaceAll(/"(?:[^"\\]|\\.)*"/g, ""))) return ["", format];
  return ["'+00 ' || ", format.replace(/^(?:FX)?/i, "$&TZH ")];
}

/** A time without a zone is in UTC: in the zone of the session there are hours that come twice, and some that are left out. */
function utc(column: string): string {
  return `CASE WHEN ${column} ~ '${fitting.time}$' THEN (${column} || 'Z')::timestamptz ELSE ${column}::timestamptz END`;
}

/** The qualified, quoted name of a table. */
export function path({ schema, table }: TableName): string {
  return `${quoted(schema)}.${quoted(table)}`;
}

const MOST_REMEMBERED = 1000;
const LONGEST_REMEMBERED = 16_000;

/**
 * `($1, $2), ($3, $4)` for two rows of two columns. Cached: building it takes longer than everything else in an insert.
 */
function placeholders(rows: number, columns: number): string {
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
