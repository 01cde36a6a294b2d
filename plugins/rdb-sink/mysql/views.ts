import {
  type EntityViews,
  plain,
  type Statement,
  type TableName,
  type TypedColumn,
  type ViewedTable,
  type ViewSql,
} from "deneb/sql";
import {
  attributesOf,
  fitting,
  kindOf,
  SAMPLED_CHARACTERS,
  SAMPLED_ROWS,
  staysKind,
  TIME_COLUMN,
} from "../view-kinds.js";
import { digitsOf, hex, keyOf, path, quoted } from "./statements.js";

/** A server opens all tables of a view for each query, and has 2,000 of them open by default. */
const MOST_TABLES = 200;

/**
 * Views over the entities of a type. Types and attributes come from notifications: they are written as hexadecimal
 * numbers, which no setting of the server reads in another way.
 */
export const mysqlViews = (columnKey: KeyOf): ViewSql => ({
  mostTables: MOST_TABLES,
  columns: (tables) => {
    const [at] = tables;
    if (at === undefined) return [];
    const text = `${COLUMNS} IN (${tables.map(() => "(?, ?)").join(", ")}) ORDER BY table_schema, table_name, ordinal_position`;
    return [{ at, text, runs: [tables.flatMap(({ schema, table }) => [schema, table])] }];
  },
  sample: (name, columns) => plain(name, `SELECT ${sampled(columns)} FROM ${path(name)} LIMIT ${SAMPLED_ROWS}`),
  common: (types) => {
    const [first, ...others] = new Set(types.filter((type) => type !== "text"));
    if (first === undefined) return types.length === 0 ? "text" : undefined;
    return others.length === 0 && isShown(first) ? first : "text";
  },
  latest: (name, columns, time) => {
    const rest = `FROM ${path(name)} ORDER BY ${quoted(time)} DESC LIMIT ${SAMPLED_ROWS}`;
    // Each of the two servers takes the bound of the other one for a comment.
    const text = `/*M! SET STATEMENT max_statement_time = 1 FOR */ SELECT /*+ MAX_EXECUTION_TIME(1000) */ ${sampled(columns)} ${rest}`;
    return [plain(name, text)];
  },
  typeOf: kindOf,
  fits: (texts, type) => !isShown(type) || staysKind(texts, type),
  define: (views) => define(views, columnKey),
  drop: ({ at, all, latest, tidy }) =>
    impatiently(at, `DROP VIEW IF EXISTS ${[latest, tidy, all].map(path).join(", ")}`),
});

/** The same text for all names that the server takes for one column. */
type KeyOf = (column: string) => string;

function sampled(columns: readonly string[]): string {
  return columns.map((column) => `LEFT(${quoted(column)}, ${SAMPLED_CHARACTERS})`).join(", ");
}

// The views show booleans as unsigned integers, and nothing else. What SELECT * does not show is no attribute, such as a primary
// key that the server added.
const COLUMNS = `
  SELECT table_schema, table_name, column_name, CASE
    WHEN column_type = 'tinyint(1)' OR column_type LIKE '%int%unsigned' THEN 'boolean'
    WHEN data_type IN ('tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'double', 'float', 'decimal') THEN 'number'
    WHEN data_type IN ('datetime', 'timestamp', 'date') THEN 'time'
    WHEN data_type IN ('char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext') THEN 'text'
    ELSE data_type END
  FROM information_schema.columns WHERE extra NOT LIKE '%INVISIBLE%' AND (table_schema, table_name)`;

const isShown = (type: string): type is "number" | "time" | "boolean" =>
  type === "number" || type === "time" || type === "boolean";

function impatiently(at: EntityViews["at"], text: string): readonly Statement[] {
  return [
    plain(at, "SET SESSION lock_wait_timeout = 3"),
    plain(at, text),
    plain(at, "SET SESSION lock_wait_timeout = DEFAULT"),
  ];
}

function define(views: EntityViews, columnKey: KeyOf): readonly (readonly Statement[])[] {
  const { at, all, latest, tidy, histories, lastData } = views;
  return [
    view(all, union(histories, views, columnKey)),
    view(latest, lastData.length === 0 ? newest(views) : union(lastData, views, columnKey)),
    view(tidy, tidied(views)),
  ].map((text) => impatiently(at, text));
}

function view(name: TableName, query: string): string {
  return `CREATE OR REPLACE VIEW ${path(name)} AS ${query}`;
}

function newest({ all, columns, names }: EntityViews): string {
  const isRows = columns.some((column) => isSame(column.name, names.attribute));
  const key = [names.id, ...(isRows ? [names.attribute] : [])].map(binary).join(", ");
  const shown = [TIME_COLUMN, ...columns.map(({ name }) => name)].map(quoted).join(", ");
  const place = `ROW_NUMBER() OVER (PARTITION BY ${key} ORDER BY ${quoted(TIME_COLUMN)} DESC)`;
  return `SELECT ${shown} FROM (SELECT ${shown}, ${place} AS deneb_place FROM ${path(all)}) AS placed WHERE deneb_place = 1`;
}

/** No spaces at the end are ignored. */
function binary(column: string): string {
  return `CAST(${quoted(column)} AS BINARY)`;
}

function union(tables: readonly ViewedTable[], views: EntityViews, columnKey: KeyOf): string {
  return tables.map((table) => selected(table, views, columnKey)).join(" UNION ALL ");
}

function selected(table: ViewedTable, views: EntityViews, columnKey: KeyOf): string {
  const own = byKey(table, columnKey);
  const cells = views.columns.map(({ name, type }) => `${cast(own.get(columnKey(name)), type)} AS ${quoted(name)}`);
  return `SELECT ${[timeOf(own, views), ...cells].join(", ")} FROM ${path(table.name)} AS t WHERE ${ofType(views)}`;
}

/** One block for each table: lists beside a table that read it (LATERAL) are unknown to MariaDB. */
function tidied(views: EntityViews): string {
  const parts = views.histories.flatMap((table) => tidyTable(table, views) ?? []);
  const shown = `deneb_time, entityid, entitytype, attribute, ${number("value_text")} AS value_number, value_text`;
  const none = `SELECT CAST(NULL AS DATETIME(6)) AS deneb_time, '' AS entityid, '' AS entitytype, '' AS attribute, '' AS value_text FROM DUAL WHERE false`;
  const values = parts.length === 0 ? none : parts.join(" UNION ALL ");
  return `SELECT ${shown} FROM (${values}) AS shown WHERE value_text IS NOT NULL`;
}

function tidyTable(table: ViewedTable, views: EntityViews): string | undefined {
  const { names } = views;
  const own = byKey(table);
  const [attribute, value] = [own.get(keyOf(names.attribute)), own.get(keyOf(names.value))];
  const fixed = [
    timeOf(own, views),
    `${text(own.get(keyOf(names.id)))} AS entityid`,
    `${text(own.get(keyOf(names.type)))} AS entitytype`,
  ].join(", ");
  const from = `${path(table.name)} AS t`;
  if (attribute !== undefined && value !== undefined) {
    return `SELECT ${fixed}, ${text(attribute)} AS attribute, ${text(value)} AS value_text FROM ${from} WHERE ${ofType(views)}`;
  }
  const attributes = attributesOf(table.columns, names, keyOf);
  if (attributes.length === 0) return undefined;
  const numbers = attributes.map((_, place) => `SELECT ${place} AS place`).join(" UNION ALL ");
  const each = (of: (column: TypedColumn) => string) =>
    `CASE list.place ${attributes.map((column, place) => `WHEN ${place} THEN ${of(column)}`).join(" ")} END`;
  return `SELECT ${fixed}, ${each(({ name }) => digitsOf(name))} COLLATE utf8mb4_bin AS attribute, ${each(text)} AS value_text
    FROM ${from} CROSS JOIN (${numbers}) AS list WHERE ${ofType(views)}`;
}

function timeOf(own: ReadonlyMap<string, TypedColumn>, { names }: EntityViews): string {
  return `${cast(own.get(keyOf(names.time)), "time")} AS ${quoted(TIME_COLUMN)}`;
}

/** A column of a table with the kind of the view: NULL instead of an error or a warning. */
function cast(column: TypedColumn | undefined, kind: string): string {
  if (kind === "text") return text(column);
  if (column?.type === kind) return ownOf(column);
  return column?.type === "text" ? castText(text(column), kind) : empty(kind);
}

function empty(kind: string): string {
  if (kind === "time") return "CAST(NULL AS DATETIME(6))";
  return kind === "boolean" ? "CAST(NULL AS UNSIGNED)" : "(NULL + 0e0)";
}

function castText(value: string, kind: string): string {
  if (kind === "number") return number(value);
  if (kind === "time") return time(value);
  return `CAST(CASE ${value} WHEN 'true' THEN 1 WHEN 'false' THEN 0 END AS UNSIGNED)`;
}

function number(value: string): string {
  return `CASE WHEN ${value} REGEXP '${fitting.number}' THEN ${value} + 0e0 END`;
}

/** In UTC: NGSI v2 times have no zone. The server knows offsets in texts in its later versions only. */
function time(value: string): string {
  const local = (end: string) => `CAST(REPLACE(${end}, 'T', ' ') AS DATETIME(6))`;
  // From the sign on: what precedes it may hold one, too, in the day only.
  const start = `CHAR_LENGTH(${value}) - LOCATE('-', REPLACE(REVERSE(${value}), '+', '-'))`;
  const zone = `REPLACE(SUBSTRING(${value}, ${start} + 1), ':', '')`;
  const minutes = `(SUBSTRING(${zone}, 2, 2) * 60 + IF(CHAR_LENGTH(${zone}) > 3, RIGHT(${zone}, 2), 0)) * IF(LOCATE('-', ${zone}) > 0, 1, -1)`;
  const zoned = `LEFT(${value}, ${start})`;
  return `CASE WHEN ${value} REGEXP '${fitting.time}$' THEN ${local(value)}
    WHEN ${value} REGEXP '${fitting.time}Z$' THEN ${local(`LEFT(${value}, CHAR_LENGTH(${value}) - 1)`)}
    WHEN ${value} REGEXP '${fitting.time}${fitting.zone}' THEN TIMESTAMPADD(MINUTE, ${minutes}, ${local(zoned)}) END`;
}

/** In one character set, byte by byte: tables of others have other ones, and no union has two. */
function text(column: TypedColumn | undefined): string {
  const own = column === undefined ? "NULL" : column.type === "text" ? ownOf(column) : `CAST(${ownOf(column)} AS CHAR)`;
  return `CONVERT(${own} USING utf8mb4) COLLATE utf8mb4_bin`;
}

function ownOf({ name }: TypedColumn): string {
  return `t.${quoted(name)}`;
}

/** The first comparison can use an index. */
function ofType({ names, entityType }: EntityViews): string {
  const own = `t.${quoted(names.type)}`;
  return `${own} = ${digitsOf(entityType)} AND CAST(CONVERT(${own} USING utf8mb4) AS BINARY) = X'${hex(entityType)}'`;
}

function byKey({ columns }: ViewedTable, columnKey: KeyOf = keyOf): ReadonlyMap<string, TypedColumn> {
  return new Map(columns.map((column) => [columnKey(column.name), column]));
}

function isSame(one: string, other: string): boolean {
  return keyOf(one) === keyOf(other);
}
