import { booleanCell, type Dialect, errorPatterns, quoted, standardDialect, type TableName } from "deneb/sql";

// A file of SQLite has no schemas: what would be one stands before the table, and no name holds a colon.
const nameOf = ({ schema, table }: TableName) => `${schema}:${table}`;

const standard = standardDialect({
  types: {
    text: "text",
    longtext: "text",
    integer: "bigint",
    number: "double",
    boolean: "boolean",
    time: "datetime",
    json: "json text",
    other: "text",
  },
  kinds: [
    [/json/i, "json"],
    [/^$|text/i, "text"],
    [/int/i, "integer"],
    [/bool/i, "boolean"],
    [/date/i, "time"],
    [/doub/i, "number"],
  ],
  cells: { boolean: booleanCell("1", "0") },
  rowId: "rowid",
  readTime: (column) => `strftime('%Y-%m-%d %H:%M:%f', ${column})`,
  path: (name) => quoted(nameOf(name)),
  errors: errorPatterns({
    name: "SQLite",
    missing: /no such (table|column)|has no column named/,
    raced: /duplicate column name|already exists/,
    refused: /^SQLITE_(TOOBIG|MISMATCH|CONSTRAINT)|too many columns/,
  }),
});

/** All services in one file. SQLite has no information_schema either. */
export const oneFile: Dialect = {
  ...standard,
  createSchema: () => [],
  catalogue: (tables) =>
    tables.map((at) => ({
      at,
      text: "SELECT '', ?, ?, name, type FROM pragma_table_info(?)",
      runs: [[at.schema, at.table, nameOf(at)]],
    })),
  tablesWith: (columns, units) =>
    units.map((at) => ({
      at,
      text: `
        SELECT '', substr(t.name, 1, instr(t.name, ':') - 1), substr(t.name, instr(t.name, ':') + 1), c.name, c.type
        FROM sqlite_master t JOIN pragma_table_info(t.name) c
        WHERE t.type = 'table' AND lower(c.name) IN (${columns.map(() => "lower(?)").join(", ")})`,
      runs: [columns],
    })),
};
