import { lowerCase } from "deneb/ngsi";
import type { Column, ColumnKind } from "../column.js";
import { plain, type Statement } from "../statement.js";
import type { TableName } from "../table-name.js";
import { booleanCell, type Cells, doubleCell, integerCell, jsonCell, plainCell, utcTime } from "./cells.js";
import { type Dialect, quoted, type TableDefinition, type TableRows } from "./dialect.js";
import { sqliteFaults } from "./sqlite-faults.js";

export const sqlite = {
  database: "sqlite",
  reservedColumns: [],
  longestText: Number.POSITIVE_INFINITY,
  columnKey: lowerCase,
  allowed: (name) => ({ ...name, table: name.table.startsWith("sqlite_") ? `_${name.table}` : name.table }),
  catalogue,
  columnKind: (type) => kinds.find(([pattern]) => pattern.test(type))?.[1] ?? "other",
  cell: (kind, value) => cells[kind](value),
  // The file is the schema; opening it makes it.
  createSchema: () => [],
  createTable,
  addColumns: (name, columns) =>
    columns.map((column) => plain(name, `ALTER TABLE ${quoted(name.table)} ADD COLUMN ${definition(column)}`)),
  widenColumns: () => [],
  insert,
  noteTexts: () => [],
  faults: sqliteFaults,
} as const satisfies Dialect;

// The affinity of a column comes from its type: https://www.sqlite.org/datatype3.html
const types = {
  text: "text",
  longtext: "text",
  integer: "bigint",
  number: "numeric",
  boolean: "boolean",
  time: "datetime",
  json: "json text",
  other: "text",
} as const satisfies Record<ColumnKind, string>;

const kinds: readonly (readonly [RegExp, ColumnKind])[] = [
  [/json/i, "json"],
  [/^$|text|char|clob/i, "text"],
  [/int/i, "integer"],
  [/bool/i, "boolean"],
  [/date|time/i, "time"],
  [/num|dec|real|doub|floa/i, "number"],
];

const cells: Cells = {
  text: plainCell,
  longtext: plainCell,
  integer: integerCell,
  number: (value) => integerCell(value) ?? doubleCell(value),
  boolean: booleanCell("1", "0"),
  time: (value) => {
    const time = utcTime(value);
    return time === undefined ? undefined : `${time.replace(" ", "T")}Z`;
  },
  json: jsonCell,
  other: plainCell,
};

function catalogue(tables: readonly TableName[]): readonly Statement[] {
  const schemas = [...new Set(tables.map(({ schema }) => schema))];
  return schemas.map((schema) => ({
    at: { database: "", schema },
    text: `
      SELECT '', ?1, NULL, NULL, NULL
      UNION ALL
      SELECT '', ?1, wanted.value, found.name, found.type
      FROM json_each(?2) AS wanted JOIN pragma_table_info(wanted.value) AS found`,
    runs: [[schema, JSON.stringify(tables.filter((name) => name.schema === schema).map(({ table }) => table))]],
  }));
}

function createTable({ name, columns, key }: TableDefinition): readonly Statement[] {
  const unique = key.length === 0 ? [] : [`PRIMARY KEY (${key.map(quoted).join(", ")})`];
  const parts = [...columns.map(definition), ...unique];
  return [plain(name, `CREATE TABLE IF NOT EXISTS ${quoted(name.table)} (${parts.join(", ")})`)];
}

function insert({ name, columns, rows }: TableRows): readonly Statement[] {
  const places = columns.map(() => "?").join(", ");
  const names = columns.map((column) => quoted(column.name)).join(", ");
  return [{ at: name, text: `INSERT INTO ${quoted(name.table)} (${names}) VALUES (${places})`, runs: rows }];
}

function definition({ name, kind }: Column): string {
  return `${quoted(name)} ${types[kind]}`;
}
