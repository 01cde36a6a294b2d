import {
  booleanCell,
  boundedSelect,
  type Cells,
  type Column,
  type ColumnKind,
  type Dialect,
  decimalCell,
  type GuardedSql,
  guarded,
  type History,
  integerCell,
  keyedSelect,
  matching,
  plain,
  plainCell,
  quoted,
  type Statement,
  strictJsonCell,
  type TableDefinition,
  type TableName,
  utcTime,
} from "deneb/sql";
import { postgresqlErrors } from "./errors.js";
import { COLUMN_TYPE, geometryCell, unlessThere, withGeometry } from "./geometry-columns.js";
import { concurrentIndex, indexNames } from "./indexes.js";
import { matchingSql, sortable } from "./matching.js";
import { postgresqlPartitions } from "./partitions.js";
import { insert, path, remove, upsert } from "./statements.js";
import { indexText, partitionedTable } from "./time-ranges.js";
import { postgresqlViews } from "./views.js";

const sql: GuardedSql = {
  path,
  quoted,
  parameter: (number) => `$${number}`,
  same: "IS NOT DISTINCT FROM",
  integer: "bigint",
  unlessThere: " ON CONFLICT DO NOTHING",
  returning: "",
};

const OTHER_DATABASES = `
  SELECT datname FROM pg_catalog.pg_database
  WHERE datallowconn AND NOT datistemplate AND datname <> current_database()
    AND has_database_privilege(oid, 'CONNECT')
  ORDER BY datname`;

const byContent = matching(matchingSql);

export const postgresql = {
  database: "postgresql",
  reservedColumns: ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"],
  longestText: Number.POSITIVE_INFINITY,
  mostColumns: 1600,
  columnKey: (column) => column,
  allowed: (name) => name,
  catalogue,
  columnKind: (type) => kinds.get(type) ?? "other",
  cell: (kind, value) => (cells[kind] ?? cells.other)(value),
  createSchema: (at) => [plain(at, `CREATE SCHEMA IF NOT EXISTS ${quoted(at.schema)}`)],
  createTable,
  addColumns: (name, columns) => {
    // One that somebody added meanwhile must be an error, and is looked up: it may be of any type.
    const additions = columns.map((column) => `ADD COLUMN ${definition(column)}`);
    return withGeometry(name, columns, `ALTER TABLE ${path(name)} ${additions.join(", ")}`);
  },
  widenColumns: () => [],
  insert,
  upsert,
  ...guarded(sql),
  remove,
  selectColumns: (columns, rows) => keyedSelect(columns, rows, sql),
  selectSettled: (rows) => {
    const question = boundedSelect(rows, sql);
    return [
      plain(rows.name, "BEGIN"),
      // Row locks would not wait for an uncommitted INSERT.
      plain(rows.name, `LOCK TABLE ${path(rows.name)} IN SHARE MODE`),
      // A synchronous standby may lack rows whose commit no longer waited for it. The commit of row locks waits.
      { ...question, text: `${question.text} FOR SHARE` },
      plain(rows.name, "COMMIT"),
    ];
  },
  commitUnit: ({ database }) => ({ database, schema: "" }),
  positionsTable: ({ database }) => ({ database, schema: "deneb", table: "positions" }),
  otherDatabases: plain({ database: "", schema: "" }, OTHER_DATABASES),
  deadLettersTable: ({ database }) => ({ database, schema: "deneb", table: "letters" }),
  registerTable: ({ database }) => ({ database, schema: "deneb", table: "tables" }),
  registered: (register, tables) => {
    const text = `SELECT $1, schema_name, table_name, sink, kind, subject FROM ${path(register)}`;
    if (tables === undefined) return [{ at: register, text, runs: [[register.database]] }];
    const named = `SELECT * FROM json_to_recordset($2::json) AS w("schema" text, "table" text)`;
    const runs = [[register.database, JSON.stringify(tables)]];
    return [{ at: register, text: `${text} WHERE (schema_name, table_name) IN (${named})`, runs }];
  },
  tablesWith: (columns, units) =>
    units.map((at) => ({ at, text: TABLES_WITH, runs: [[at.database, JSON.stringify(columns)]] })),
  count: ({ name }) => plain(name, `SELECT count(*) FROM ${path(name)}`),
  countOlder: (history, before, limit) => ({
    at: history.name,
    text: `SELECT count(*) FROM (
      SELECT FROM ${path(history.name)} WHERE ${sortable(history.time)} < $1 LIMIT $2::bigint) AS older`,
    runs: [[bound(history, before), String(limit)]],
  }),
  deleteOlder: (history, before, limit) =>
    deletion(history, `WHERE ${sortable(history.time)} < $1 LIMIT $2::bigint`, [bound(history, before), String(limit)]),
  deleteExcess: (history, newest, limit) =>
    deletion(history, `ORDER BY ${sortable(history.time)} DESC, ctid DESC OFFSET $1::bigint LIMIT $2::bigint`, [
      String(newest),
      String(limit),
    ]),
  ...byContent,
  // Triggers, rules and row security may keep rows without an error.
  deleteMatching: (rows, limit) => ({ ...byContent.deleteMatching(rows, limit), changes: limit }),
  noteTexts: (notes) =>
    notes.map(({ name, text }) => ({
      at: name,
      text: "SELECT $1::text, format('COMMENT ON TABLE %I.%I IS %L', $2::text, $3::text, $4::text)",
      runs: [[name.database, name.schema, name.table, text]],
    })),
  partitions: postgresqlPartitions,
  createIndexes: (name, indexes) => indexes.flatMap((index) => concurrentIndex(name, index)),
  indexNames,
  tableSizes,
  errors: postgresqlErrors,
  views: postgresqlViews,
} as const satisfies Dialect;

/** Those without words of the grammar have their schema: a domain of that name in a schema before it would be taken. */
const types = {
  text: "pg_catalog.text",
  longtext: "pg_catalog.text",
  integer: "bigint",
  number: "numeric",
  boolean: "boolean",
  time: "pg_catalog.timestamptz",
  json: "pg_catalog.jsonb",
  other: "pg_catalog.text",
  geometry: "geometry(Geometry, 4326)",
  geometryz: "geometry(GeometryZ, 4326)",
} as const satisfies Record<ColumnKind, string>;

const kinds: ReadonlyMap<string, ColumnKind> = new Map([
  ...["text", "varchar", "bpchar", "name"].map((type) => [type, "text"] as const),
  ...["int2", "int4", "int8", "integer identity"].map((type) => [type, "integer"] as const),
  ...["numeric", "float4", "float8"].map((type) => [type, "number"] as const),
  ["bool", "boolean"],
  ...["timestamp", "timestamptz", "date"].map((type) => [type, "time"] as const),
  ...["json", "jsonb"].map((type) => [type, "json"] as const),
  ...["geometry", "geography"].map((type) => [type, "geometry"] as const),
  ["geometryz", "geometryz"],
]);

const cells: Cells = {
  text: plainCell,
  longtext: plainCell,
  integer: integerCell,
  number: decimalCell,
  boolean: booleanCell("true", "false"),
  time: (value) => {
    const time = utcTime(value);
    return time === undefined ? undefined : `${time}+00`;
  },
  json: strictJsonCell,
  other: plainCell,
  geometry: (value) => geometryCell(value, 2),
  geometryz: (value) => geometryCell(value, 3),
};

/** Also of a column of the type serial, which has a default. */
const NUMBERS_ROWS = `a.attidentity <> '' OR a.atthasdef AND EXISTS (
      SELECT FROM pg_catalog.pg_attrdef d
      WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%')`;

function catalogue(tables: readonly TableName[]): readonly Statement[] {
  const databases = [...new Set(tables.map(({ database }) => database))];
  return databases.map((database) => {
    const names = tables.filter((name) => name.database === database);
    const text = `
    WITH wanted AS (SELECT * FROM json_to_recordset($2::json) AS w("schema" text, "table" text))
    SELECT $1, nspname, NULL, NULL, NULL FROM pg_catalog.pg_namespace WHERE nspname IN (SELECT "schema" FROM wanted)
    UNION ALL
    SELECT $1, n.nspname, c.relname, a.attname, CASE WHEN ${NUMBERS_ROWS} THEN 'integer identity' ELSE ${COLUMN_TYPE} END
    FROM wanted
    JOIN pg_catalog.pg_namespace n ON n.nspname = wanted."schema"
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = wanted."table"
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_catalog.pg_type t ON t.oid = a.atttypid`;
    return { at: { database, schema: "" }, text, runs: [[database, JSON.stringify(names)]] };
  });
}

// Tables that were never analyzed have -1 rows. Chunks of a hypertable inherit from a plain table.
function tableSizes(tables: readonly TableName[]): readonly Statement[] {
  const databases = [...new Set(tables.map(({ database }) => database))];
  return databases.map((database) => {
    const names = tables.flatMap(({ database: own, schema, table }) => (own === database ? [{ schema, table }] : []));
    const text = `
    WITH wanted AS (SELECT DISTINCT * FROM json_to_recordset($2::json) AS w("schema" text, "table" text)),
    found AS (
      SELECT c.oid, n.nspname, c.relname, c.relkind, c.reltuples FROM wanted
      JOIN pg_catalog.pg_namespace n ON n.nspname = wanted."schema"
      JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = wanted."table")
    SELECT $1, nspname, relname,
      CASE WHEN relkind = 'p' THEN parts.rows
        ELSE coalesce(nullif(found.reltuples, -1)::bigint + coalesce(parts.rows, 0), parts.rows) END,
      CASE WHEN relkind = 'p' OR parts.number > 0 THEN parts.number END
    FROM found, LATERAL (
      SELECT count(*) AS number, (sum(c.reltuples) FILTER (WHERE c.reltuples >= 0))::bigint AS rows
      FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = found.oid) AS parts`;
    return { at: { database, schema: "" }, text, runs: [[database, JSON.stringify(names)]] };
  });
}

function createTable(table: TableDefinition): readonly Statement[] {
  const { name, columns, key, indexes = [] } = table;
  const unique = key.length === 0 ? [] : [`PRIMARY KEY (${key.map(quoted).join(", ")})`];
  const parts = [...columns.map(definition), ...unique];
  const { clause, more } = partitionedTable(table);
  return [
    ...withGeometry(name, columns, `CREATE TABLE ${unlessThere(columns)}${path(name)} (${parts.join(", ")})${clause}`),
    ...indexes.map((index) => plain(name, indexText(name, index, "CREATE INDEX"))),
    ...more,
  ];
}

// Each partition of a table has its own ctids.
function deletion({ name }: History, which: string, parameters: readonly string[]): Statement {
  const text = `
    DELETE FROM ${path(name)} WHERE (tableoid, ctid) IN (SELECT tableoid, ctid FROM ${path(name)} ${which})`;
  return { at: name, text, runs: [parameters] };
}

function bound({ time }: History, before: string): string {
  return time.kind === "time" ? `${before}+00` : before;
}

const TABLES_WITH = `
  SELECT $1, n.nspname, c.relname, a.attname, t.typname
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname !~ '^(pg_|information_schema$)'
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  WHERE c.relkind IN ('r', 'p') AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid)
    AND a.attname IN (SELECT json_array_elements_text($2::json))`;

function definition({ name, kind }: Column): string {
  return `${quoted(name)} ${types[kind]}`;
}
