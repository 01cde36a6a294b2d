import { plain, type Statement } from "../statement.js";
import type { TableName } from "../table-name.js";
import { type Dialect, quoted, type TableRows } from "./dialect.js";
import { sqliteFaults } from "./sqlite-faults.js";

export const sqlite = {
  reservedColumns: [],
  allowed: ({ schema, table }) => ({ schema, table: table.startsWith("sqlite_") ? `_${table}` : table }),
  catalogue,
  // The file is the schema; opening it makes it.
  createSchema: () => [],
  createTable: ({ schema, table }, columns) => [
    plain(schema, `CREATE TABLE IF NOT EXISTS ${quoted(table)} (${columns.map(definition).join(", ")})`),
  ],
  addColumns: ({ schema, table }, columns) =>
    columns.map((column) => plain(schema, `ALTER TABLE ${quoted(table)} ADD COLUMN ${definition(column)}`)),
  insert,
  noteTexts: () => [],
  faults: sqliteFaults,
} as const satisfies Dialect;

function catalogue(tables: readonly TableName[]): readonly Statement[] {
  const schemas = [...new Set(tables.map(({ schema }) => schema))];
  return schemas.map((schema) => ({
    schema,
    text: `
      SELECT ?1, NULL, NULL
      UNION ALL
      SELECT ?1, wanted.value, lower(found.name)
      FROM json_each(?2) AS wanted JOIN pragma_table_info(wanted.value) AS found`,
    runs: [[schema, JSON.stringify(tables.filter((name) => name.schema === schema).map(({ table }) => table))]],
  }));
}

function insert({ name, columns, rows }: TableRows): readonly Statement[] {
  const places = columns.map(() => "?").join(", ");
  const text = `INSERT INTO ${quoted(name.table)} (${columns.map(quoted).join(", ")}) VALUES (${places})`;
  return [{ schema: name.schema, text, runs: rows }];
}

function definition(column: string): string {
  return `${quoted(column)} text`;
}
