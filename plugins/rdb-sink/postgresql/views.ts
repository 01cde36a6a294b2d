import {
  type Cell,
  type EntityViews,
  plain,
  quoted,
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
import { OF_THE_SERVER } from "./search-path.js";
import { path } from "./statements.js";

/** A statement over more tables takes seconds to plan, and a lock of the server for each. */
const MOST_TABLES = 500;

/** Views over the entities of a type. Types and attributes come from notifications: they are quoted as literals. */
export const postgresqlViews: ViewSql = {
  mostTables: MOST_TABLES,
  columns: (tables) => {
    const databases = [...new Set(tables.map(({ database }) => database))];
    return databases.map((database) => ({
      at: { database, schema: "" },
      text: COLUMNS,
      runs: [[JSON.stringify(tables.filter((name) => name.database === database))]],
    }));
  },
  sample: (name, columns) => plain(name, `SELECT ${sampled(columns)} FROM ${path(name)} LIMIT ${SAMPLED_ROWS}`),
  latest: (name, columns, time) => {
    const newest = `SELECT ${sampled(columns)} FROM ${path(name)} ORDER BY ${quoted(time)} DESC LIMIT ${SAMPLED_ROWS}`;
    return ["BEGIN", "SET LOCAL statement_timeout = '1s'", newest, "COMMIT"].map((text) => plain(name, text));
  },
  common,
  typeOf: (texts) => types[kindOf(texts)],
  fits: (texts, type) => staysKind(texts, isNumber(type) ? "number" : isTime(type) ? "time" : kindOfType(type)),
  define,
  rights: ({ at, all, latest, tidy }) => ({
    at,
    text: RIGHTS,
    runs: [[at.schema, all.table, latest.table, tidy.table]],
  }),
  remake: (views, rights) => {
    const { at, all, latest, tidy } = views;
    const made = define(views).flatMap((statements) => statements.slice(1));
    const drop = plain(at, `DROP VIEW IF EXISTS ${[latest, tidy, all].map(path).join(", ")}`);
    return [plain(at, WAIT), drop, ...made, ...rights.flatMap((right) => granted(right, views))];
  },
  drop: ({ at, all, latest, tidy }) => [
    plain(at, WAIT),
    plain(at, `DROP VIEW IF EXISTS ${[latest, tidy, all].map(path).join(", ")}`),
  ],
};

function sampled(columns: readonly string[]): string {
  return columns.map((column) => `left(${quoted(column)}, ${SAMPLED_CHARACTERS})`).join(", ");
}

const COLUMNS = `
  WITH wanted AS (SELECT DISTINCT * FROM json_to_recordset($1::json) AS w("schema" text, "table" text))
  SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
  FROM wanted
  JOIN pg_catalog.pg_namespace n ON n.nspname = wanted."schema"
  JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = wanted."table"
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  ORDER BY n.nspname, c.relname, a.attnum`;

const WAIT = `
  SELECT pg_catalog.set_config('lock_timeout', '3s', true), pg_catalog.set_config('search_path', '${OF_THE_SERVER}', true)`;

const RIGHTS = `
  SELECT c.relname, CASE WHEN a.grantee = 0 THEN NULL ELSE pg_get_userbyid(a.grantee) END, a.privilege_type, a.is_grantable::text
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  CROSS JOIN LATERAL aclexplode(c.relacl) AS a
  WHERE n.nspname = $1 AND c.relname IN ($2, $3, $4) AND a.grantee <> c.relowner`;

function granted(
  [view = "", grantee, right = "", passedOn]: readonly Cell[],
  { all }: EntityViews,
): readonly Statement[] {
  if (!/^[A-Z ]+$/.test(right)) return [];
  const to = `${grantee === undefined ? "PUBLIC" : quoted(grantee)}${passedOn === "true" ? " WITH GRANT OPTION" : ""}`;
  return [plain(all, `GRANT ${right} ON ${path({ ...all, table: view })} TO ${to}`)];
}

const isText = (type: string) => /^(?:text|character|name)/.test(type);
const isNumber = (type: string) => /^(?:smallint|integer|bigint|numeric|real|double)/.test(type);
const kindOfType = (type: string) => (type === "boolean" ? "boolean" : "text");
const isTime = (type: string) => /^(?:timestamp|date)/.test(type);
const isZoned = (type: string) => type.endsWith("with time zone");

function common(types: readonly string[]): string | undefined {
  const [first = "text", ...others] = [...new Set(types.filter((type) => !isText(type)))];
  if (types.every(isText)) return undefined;
  const all = [first, ...others];
  // A text may be a number that other types refuse: with a fraction, or larger than they take.
  const takesTexts = first === "double precision" || !types.some(isText);
  if (all.every(isNumber)) return others.length === 0 && takesTexts ? first : "numeric";
  if (others.length === 0) return first;
  return all.every(isTime) ? "timestamp with time zone" : "text";
}

const types = { number: "numeric", time: "timestamp with time zone", boolean: "boolean", text: "text" } as const;

/** A column of a table with the type of the view: NULL instead of an error. */
function cast(column: TypedColumn | undefined, type: string): string {
  if (column === undefined) return `NULL::${type}`;
  const own = `t.${quoted(column.name)}`;
  if (column.type === type) return own;
  if (type === "text") return `${own}::text`;
  if (isText(column.type)) return castText(own, type);
  if (isTime(type) && isTime(column.type)) return castTime(own, column.type, type);
  return isNumber(type) && isNumber(column.type) ? `${own}::${type}` : `NULL::${type}`;
}

/** Times without a zone are in UTC, whatever zone a reader has. */
function castTime(time: string, from: string, to: string): string {
  if (isZoned(from) === isZoned(to)) return `${time}::${to}`;
  return isZoned(to) ? `${time}::timestamp AT TIME ZONE 'UTC'` : `(${time} AT TIME ZONE 'UTC')::${to}`;
}

function castText(text: string, type: string): string {
  if (isNumber(type)) return `CASE WHEN ${text} ~ '${fitting.number}' THEN ${text}::${type} END`;
  if (type === "boolean") return `CASE ${text} WHEN 'true' THEN true WHEN 'false' THEN false END`;
  if (!isTime(type)) return `NULL::${type}`;
  // NGSI v2 times have no zone and are in UTC.
  return `CASE WHEN ${text} ~ '${fitting.time}${fitting.zone}' THEN ${text}::${type} WHEN ${text} ~ '${fitting.time}$' THEN (${text} || 'Z')::${type} END`;
}

function define(views: EntityViews): readonly (readonly Statement[])[] {
  const { at, all, latest, tidy, histories, lastData, names } = views;
  const hasRows = views.columns.some(({ name }) => name === names.attribute);
  const key = [names.id, ...(hasRows ? [names.attribute] : [])].map(quoted).join(", ");
  const newest = `SELECT DISTINCT ON (${key}) * FROM ${path(all)} ORDER BY ${key}, ${quoted(TIME_COLUMN)} DESC NULLS LAST`;
  return [
    view(all, union(histories, views)),
    view(latest, lastData.length === 0 ? newest : union(lastData, views)),
    view(tidy, tidied(views)),
  ].map((statement) => [plain(at, WAIT), statement]);
}

function view(name: TableName, query: string): Statement {
  return plain(name, `CREATE OR REPLACE VIEW ${path(name)} AS ${query}`);
}

function union(tables: readonly ViewedTable[], views: EntityViews): string {
  return tables.map((table) => selected(table, views)).join(" UNION ALL ");
}

function selected({ name, columns }: ViewedTable, views: EntityViews): string {
  const own = new Map(columns.map((column) => [column.name, column]));
  const cells = views.columns.map(({ name: column, type }) => `${cast(own.get(column), type)} AS ${quoted(column)}`);
  const time = `${cast(own.get(views.names.time), TIMESTAMP)} AS ${quoted(TIME_COLUMN)}`;
  return `SELECT ${[time, ...cells].join(", ")} FROM ${path(name)} AS t WHERE ${ofType(views)}`;
}

const TIMESTAMP = "timestamp with time zone";

function tidied(views: EntityViews): string {
  const parts = views.histories.flatMap((table) => tidyTable(table, views) ?? []);
  if (parts.length > 0) return parts.join(" UNION ALL ");
  return `SELECT NULL::${TIMESTAMP} AS ${quoted(TIME_COLUMN)}, NULL::text AS entityid, NULL::text AS entitytype,
    NULL::text AS attribute, NULL::numeric AS value_number, NULL::text AS value_text WHERE false`;
}

function tidyTable({ name, columns }: ViewedTable, views: EntityViews): string | undefined {
  const { names } = views;
  const own = new Map(columns.map((column) => [column.name, column]));
  const isRows = own.has(names.attribute) && own.has(names.value);
  const pairs = isRows
    ? [`(t.${quoted(names.attribute)}::text, t.${quoted(names.value)}::text)`]
    : attributesOf(columns, names, (column) => column).map(pair);
  if (pairs.length === 0) return undefined;
  return `SELECT ${cast(own.get(names.time), TIMESTAMP)} AS ${quoted(TIME_COLUMN)}, t.${quoted(names.id)}::text AS entityid,
    t.${quoted(names.type)}::text AS entitytype, v.attribute, ${castText("v.value", "numeric")} AS value_number,
    v.value AS value_text
    FROM ${path(name)} AS t CROSS JOIN LATERAL (VALUES ${pairs.join(", ")}) AS v(attribute, value)
    WHERE ${ofType(views)} AND v.value IS NOT NULL`;
}

function pair({ name }: TypedColumn): string {
  return `(${literal(name)}, t.${quoted(name)}::text)`;
}

function ofType({ names, entityType }: EntityViews): string {
  return `t.${quoted(names.type)} = ${literal(entityType)}`;
}

/** A text as a literal, whatever standard_conforming_strings and backslash_quote say. */
function literal(text: string): string {
  return `E'${text.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`;
}
