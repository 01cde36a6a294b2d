import type { Column, ColumnKind } from "../column.js";
import { plain, type Statement } from "../statement.js";
import type { TableName } from "../table-name.js";
import { booleanCell, type Cells, doubleCell, integerCell, jsonCell, plainCell, utcTime } from "./cells.js";
import type { Dialect, TableDefinition, TableRows } from "./dialect.js";
import { mysqlChunks } from "./mysql-chunks.js";
import { mysqlFaults } from "./mysql-faults.js";

const TABLES_PER_QUESTION = 500;
const LONGEST_TEXT_BYTES = 65_535;
const MOST_BYTES_OF_A_CHARACTER = 4;
// An index takes 3,072 bytes.
const MOST_CHARACTERS_OF_A_KEY = 768;

/** MySQL and MariaDB, where a schema is a database. */
export const mysql = {
  database: "mysql",
  reservedColumns: [],
  longestText: Math.floor(LONGEST_TEXT_BYTES / MOST_BYTES_OF_A_CHARACTER),
  columnKey: (column) => column.toLowerCase(),
  allowed: (name) => name,
  catalogue,
  columnKind: (type) => kinds.get(type) ?? "other",
  cell: (kind, value) => cells[kind](value),
  createSchema: (at) => [plain(at, `CREATE DATABASE IF NOT EXISTS ${quoted(at.schema)} CHARACTER SET utf8mb4`)],
  createTable,
  addColumns: (name, columns) => {
    const additions = columns.map((column) => `ADD COLUMN ${definition(column)}`);
    return [plain(name, `ALTER TABLE ${path(name)} ${additions.join(", ")}`)];
  },
  widenColumns: (name, columns) => {
    const changes = columns.map((column) => `MODIFY COLUMN ${definition({ name: column, kind: "longtext" })}`);
    return [plain(name, `ALTER TABLE ${path(name)} ${changes.join(", ")}`)];
  },
  insert,
  noteTexts: () => [],
  faults: mysqlFaults,
} as const satisfies Dialect;

const types = {
  text: "text",
  longtext: "longtext",
  integer: "bigint",
  number: "double",
  boolean: "boolean",
  time: "datetime(6)",
  // MariaDB keeps JSON as longtext; by the comment the column is known again.
  json: "json COMMENT 'json'",
  other: "text",
} as const satisfies Record<ColumnKind, string>;

const kinds: ReadonlyMap<string, ColumnKind> = new Map([
  ["text", "text"],
  ...["mediumtext", "longtext"].map((type) => [type, "longtext"] as const),
  ...["tinyint", "smallint", "mediumint", "int", "bigint"].map((type) => [type, "integer"] as const),
  ...["double", "float", "decimal"].map((type) => [type, "number"] as const),
  ["boolean", "boolean"],
  ...["datetime", "timestamp", "date"].map((type) => [type, "time"] as const),
  ["json", "json"],
]);

const cells: Cells = {
  text: ({ plain: text }) => (Buffer.byteLength(text) <= LONGEST_TEXT_BYTES ? text : undefined),
  longtext: plainCell,
  integer: integerCell,
  number: doubleCell,
  boolean: booleanCell("1", "0"),
  time: utcTime,
  json: jsonCell,
  other: plainCell,
};

function catalogue(tables: readonly TableName[]): readonly Statement[] {
  const [first] = tables;
  if (first === undefined) return [];
  const schemas = [...new Set(tables.map(({ schema }) => schema))];
  const starts = Array.from(
    { length: Math.ceil(tables.length / TABLES_PER_QUESTION) },
    (_, i) => i * TABLES_PER_QUESTION,
  );
  return [
    {
      at: first,
      text: `SELECT schema_name, schema_name, NULL, NULL, NULL FROM information_schema.schemata WHERE schema_name IN (${schemas.map(() => "?").join(", ")})`,
      runs: [schemas],
    },
    ...starts.map((start) => columnsOf(first, tables.slice(start, start + TABLES_PER_QUESTION))),
  ];
}

function columnsOf(at: TableName, tables: readonly TableName[]): Statement {
  const text = `
    SELECT table_schema, table_schema, table_name, column_name, CASE
      WHEN column_comment = 'json' THEN 'json' WHEN column_type = 'tinyint(1)' THEN 'boolean' ELSE data_type END
    FROM information_schema.columns WHERE (table_schema, table_name) IN (${tables.map(() => "(?, ?)").join(", ")})`;
  return { at, text, runs: [tables.flatMap(({ schema, table }) => [schema, table])] };
}

function createTable({ name, columns, key }: TableDefinition): readonly Statement[] {
  const length = Math.floor(MOST_CHARACTERS_OF_A_KEY / Math.max(1, key.length));
  const unique = key.length === 0 ? [] : [`PRIMARY KEY (${key.map(quoted).join(", ")})`];
  // Two ids that differ in letter case only are two entities.
  const parts = columns.map((column) =>
    key.includes(column.name) ? `${quoted(column.name)} varchar(${length}) COLLATE utf8mb4_bin` : definition(column),
  );
  const text = `CREATE TABLE IF NOT EXISTS ${path(name)} (${[...parts, ...unique].join(", ")}) CHARACTER SET utf8mb4`;
  return [plain(name, text)];
}

function insert({ name, columns, rows }: TableRows): readonly Statement[] {
  const into = `INSERT INTO ${path(name)} (${columns.map((column) => quoted(column.name)).join(", ")}) VALUES `;
  const row = `(${columns.map(() => "?").join(", ")})`;
  return mysqlChunks(rows, columns.length).map(({ size, runs }) => ({
    at: name,
    text: into + Array.from({ length: size }, () => row).join(", "),
    runs,
  }));
}

function definition({ name, kind }: Column): string {
  return `${quoted(name)} ${types[kind]}`;
}

function path({ schema, table }: TableName): string {
  return `${quoted(schema)}.${quoted(table)}`;
}

function quoted(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}
