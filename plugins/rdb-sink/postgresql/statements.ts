import {
  type Cell,
  type Column,
  columnList,
  joinedRows,
  type LastRow,
  quoted,
  RecentMap,
  type Statement,
  type TableName,
  type TableRows,
} from "deneb/sql";

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
export function upsert({ name, columns, cells, key, time, timeFormat }: LastRow): Statement {
  const values = columns.map((_, index) => `$${index + 1}`).join(", ");
  const changed = columns.filter((column) => !key.includes(column.name)).map((column) => quoted(column.name));
  const own = quoted(time.name);
  const format = time.kind === "text" ? timeFormat : undefined;
  const read = (column: string) => timeOf(column, time, format === undefined ? undefined : columns.length + 1);
  const text = `
    INSERT INTO ${path(name)} AS stored (${columns.map((column) => quoted(column.name)).join(", ")}) VALUES (${values})
    ON CONFLICT (${key.map(quoted).join(", ")}) DO UPDATE SET ${changed.map((column) => `${column} = EXCLUDED.${column}`).join(", ")}
    WHERE stored.${own} IS NULL OR ${read(`stored.${own}`)} < ${read(`EXCLUDED.${own}`)}`;
  return { at: name, text, runs: [format === undefined ? cells : [...cells, format]] };
}

/** An expression for a comparable time; texts are parsed with the format, or as ISO 8601. */
function timeOf(column: string, { kind }: Column, formatParameter: number | undefined): string {
  if (kind !== "text") return column;
  return formatParameter === undefined
    ? `${column}::timestamptz`
    : `to_timestamp(${column}, $${formatParameter}::text)`;
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
