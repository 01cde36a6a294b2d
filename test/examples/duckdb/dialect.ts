import { type Dialect, errorPatterns, standardDialect } from "deneb/sql";

/** DuckDB has schemas, information_schema, ON CONFLICT and types for everything. */
export const duckdb: Dialect = standardDialect({
  types: {
    text: "varchar",
    longtext: "varchar",
    integer: "bigint",
    number: "double",
    boolean: "boolean",
    time: "timestamp",
    json: "json",
    other: "varchar",
  },
  kinds: [
    [/^varchar/i, "text"],
    [/int/i, "integer"],
    [/^(double|float|decimal)/i, "number"],
    [/^bool/i, "boolean"],
    [/^(timestamp|date)/i, "time"],
    [/^json/i, "json"],
  ],
  rowId: "rowid",
  readTime: (column) => `CAST(${column} AS timestamp)`,
  errors: errorPatterns({
    name: "DuckDB",
    missing: /(Table|Schema) with name .* does not exist|does not have a column with name|Referenced column/,
    raced: /already exists/,
    // A duplicate primary key is of another write at the same time, such as the first position of a channel.
    refused:
      /(Conversion|Out of Range|Invalid Input) Error|Constraint Error(?!: Duplicate key .* violates primary key)/,
  }),
});
