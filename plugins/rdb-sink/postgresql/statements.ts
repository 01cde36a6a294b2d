import {
  type Cell,
  type Column,
  columnList,
  type LastRow,
  memberChanges,
  quoted,
  type RemovedRows,
  rememberingColumns,
  rememberingUpserts,
  type Statement,
  type TableName,
  type TableRows,
  writtenColumns,
} from "deneb/sql";
import { fitting } from "../view-kinds.js";

/** A statement that puts a row into a table in each run, which COPY does in a fraction of the time. */
export interface CopyableStatement extends Statement {
  readonly at: TableName;
  /** The COPY for all runs together. */
  readonly copy: string;
}

/** Inserts rows one by one, or by COPY where the connection can do that. */
export function insert({ name, columns, rows }: TableRows): readonly CopyableStatement[] {
  const [first] = rows;
  if (first === undefined) return [];
  const into = `${path(name)} (${columnList(columns)})`;
  const { values, where } = textsOf(columns, first);
  return [
    { at: name, text: `INSERT INTO ${into} VALUES (${values})`, runs: rows, copy: `COPY ${into} FROM STDIN${where}` },
  ];
}

/** What of the texts of an INSERT and a COPY depends on where a row has times without a zone. */
interface RowTexts {
  readonly times: readonly number[];
  readonly values: string;
  readonly where: string;
}

/** Of a list of columns that most tables share, and whose rows have such times in the same places. */
const rowTexts = new WeakMap<readonly Column[], RowTexts>();

function textsOf(columns: readonly Column[], cells: readonly Cell[]): RowTexts {
  const times = withoutZone(columns, cells);
  const known = rowTexts.get(columns);
  if (known?.times.length === times.length && times.every((at, index) => known.times[index] === at)) return known;
  const texts = times.flatMap((at) => columns[at] ?? []);
  const values = times.length === 0 ? parameters(columns) : typed(columns, texts);
  const made = { times, values, where: whereTexts(texts) };
  rowTexts.set(columns, made);
  return made;
}

/** A COPY takes what the type of a column can read. The server drops this condition, after it has read that these columns are texts. */
function whereTexts(texts: readonly Column[]): string {
  if (texts.length === 0) return "";
  return ` WHERE true OR ${texts.map(({ name }) => `${quoted(name)} OPERATOR(pg_catalog.~) ''`).join(" OR ")}`;
}

/** The places of the columns of texts that have such a time. */
function withoutZone(columns: readonly Column[], cells: readonly Cell[]): readonly number[] {
  const places: number[] = [];
  for (let at = 0; at < columns.length; at += 1) {
    const cell = cells[at];
    if (cell?.charCodeAt(SECOND_HYPHEN) === HYPHEN && columns[at]?.kind === "text" && WITHOUT_ZONE.test(cell))
      places.push(at);
  }
  return places;
}

/**
 * A column of texts may have become one of times, where somebody changed it since it was looked up. It would read this time in the zone
 * of the session; as a text it is refused, and the column is looked up again.
 */
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;
const SECOND_HYPHEN = 7;
const HYPHEN = 45;

/** `$1, $2` for two columns. */
const parameters = rememberingColumns((columns) => columns.map((_, index) => `$${index + 1}`).join(", "));

/** The same, of which some are texts and nothing else. */
function typed(columns: readonly Column[], texts: readonly Column[]): string {
  return columns.map((column, index) => `$${index + 1}${texts.includes(column) ? "::text" : ""}`).join(", ");
}

/** A text is remembered for rows with other cells: of a row with such a time every text is a text and nothing else. */
export function upsert(row: LastRow): Statement {
  return withoutZone(row.columns, row.cells).length === 0 ? plainUpsert(row) : typedUpsert(row);
}

const plainUpsert = rememberingUpserts((row) => upsertText(row, []));
const typedUpsert = rememberingUpserts((row) => {
  return upsertText(
    row,
    row.columns.filter(({ kind }) => kind === "text"),
  );
});

function upsertText({ name, columns, key, time, timeFormat, members }: LastRow, texts: readonly Column[]) {
  const more: Cell[] = [];
  const parameter = (cell: Cell) => `$${columns.length + more.push(cell)}::text`;
  const values = typed(columns, texts);
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
}

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
