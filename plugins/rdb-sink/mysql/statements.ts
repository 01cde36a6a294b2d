import {
  type Cell,
  type Column,
  joinedRows,
  type LastRow,
  rememberingColumns,
  type Statement,
  type TableName,
  type TableRows,
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

/** Inserts a row of last data, or updates the stored one if this one is newer. */
export function upsert({ name, columns, cells, key, time, timeFormat }: LastRow): Statement {
  const names = columns.map((column) => quoted(column.name));
  const own = quoted(time.name);
  const read = (column: string) => timeOf(column, time, timeFormat);
  const newer = `${own} IS NULL OR ${read(own)} < ${read(`VALUES(${own})`)}`;
  const plainly = columns.filter((column) => !key.includes(column.name) && column.name !== time.name);
  // Assignments are evaluated in order, and all of them read the time, so it comes last.
  const changes = [...plainly.map((column) => quoted(column.name)), own].map(
    (column) => `${column} = IF(${newer}, VALUES(${column}), ${column})`,
  );
  const text = `
    INSERT INTO ${path(name)} (${names.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})
    ON DUPLICATE KEY UPDATE ${changes.join(", ")}`;
  const formats =
    timeFormat === undefined || time.kind !== "text" ? [] : changes.flatMap(() => [timeFormat, timeFormat]);
  return { at: name, text, runs: [[...cells, ...formats]] };
}

/**
 * An expression for a comparable time; texts are parsed with the format, or are times in UTC as this sink writes them.
 */
function timeOf(column: string, { kind }: Column, format: string | undefined): string {
  if (kind !== "text") return column;
  return format === undefined ? `REPLACE(REPLACE(${column}, 'T', ' '), 'Z', '')` : `STR_TO_DATE(${column}, ?)`;
}

const columnList = rememberingColumns((columns) => columns.map(({ name }) => quoted(name)).join(", "));

/** Rows for statements of `size` rows each; a run holds the cells of one statement. */
interface Chunk {
  readonly size: number;
  readonly runs: readonly (readonly Cell[])[];
}

const MOST_PARAMETERS = 65_535;
const MOST_ROWS = 100;
// A statement must fit into max_allowed_packet, 16 MiB unless the server says otherwise; a row alone may be larger.
const MOST_CHARACTERS = 1_000_000;

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

export function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}
