import { type Cell, plain, type Statement } from "../statement.js";
import type { TableName } from "../table-name.js";
import { type Dialect, quoted, type TableRows } from "./dialect.js";
import { placeholders } from "./placeholders.js";
import { postgresqlFaults } from "./postgresql-faults.js";

const MOST_PARAMETERS = 65_535;
// Measured: larger statements cost the server more to read than they save; a full one is parsed once and run often.
const ROWS_PER_STATEMENT = 100;

export const postgresql = {
  reservedColumns: ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"],
  allowed: (name) => name,
  catalogue,
  createSchema: (schema) => [plain(schema, `CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`)],
  createTable: (name, columns) => [
    plain(name.schema, `CREATE TABLE IF NOT EXISTS ${path(name)} (${columns.map(definition).join(", ")})`),
  ],
  addColumns: (name, columns) => {
    const additions = columns.map((column) => `ADD COLUMN IF NOT EXISTS ${definition(column)}`);
    return [plain(name.schema, `ALTER TABLE ${path(name)} ${additions.join(", ")}`)];
  },
  insert,
  noteTexts: (notes) =>
    notes.map(({ name, text }) => ({
      schema: name.schema,
      text: "SELECT format('COMMENT ON TABLE %I.%I IS %L', $1::text, $2::text, $3::text)",
      runs: [[name.schema, name.table, text]],
    })),
  faults: postgresqlFaults,
} as const satisfies Dialect;

function catalogue(tables: readonly TableName[]): readonly Statement[] {
  const [first] = tables;
  if (first === undefined) return [];
  const text = `
    WITH wanted AS (SELECT * FROM json_to_recordset($1::json) AS w("schema" text, "table" text))
    SELECT nspname, NULL, NULL FROM pg_catalog.pg_namespace WHERE nspname IN (SELECT "schema" FROM wanted)
    UNION ALL
    SELECT n.nspname, c.relname, a.attname
    FROM wanted
    JOIN pg_catalog.pg_namespace n ON n.nspname = wanted."schema"
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = wanted."table"
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped`;
  return [{ schema: first.schema, text, runs: [[JSON.stringify(tables)]] }];
}

function insert({ name, columns, rows }: TableRows): readonly Statement[] {
  const size = Math.max(1, Math.min(ROWS_PER_STATEMENT, Math.floor(MOST_PARAMETERS / columns.length)));
  const full: (readonly Cell[])[] = [];
  let start = 0;
  for (; start + size <= rows.length; start += size) full.push(rows.slice(start, start + size).flat());
  const rest = rows.slice(start);

  const { schema } = name;
  const into = `INSERT INTO ${path(name)} (${columns.map(quoted).join(", ")}) VALUES `;
  return [
    ...(full.length === 0 ? [] : [{ schema, text: into + placeholders(size, columns.length), runs: full }]),
    ...(rest.length === 0
      ? []
      : [{ schema, text: into + placeholders(rest.length, columns.length), runs: [rest.flat()] }]),
  ];
}

function definition(column: string): string {
  return `${quoted(column)} text`;
}

function path({ schema, table }: TableName): string {
  return `${quoted(schema)}.${quoted(table)}`;
}
