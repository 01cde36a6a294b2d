import { lowerCase } from "../../ngsi/index.js";
import { booleanCell, type Cells, doubleCell, integerCell, plainCell, utcTime } from "../contract/column.js";
import type { Dialect } from "../contract/dialect.js";
import { strictJsonCell } from "../contract/json-cell.js";
import { plain } from "../contract/statement.js";
import { type MatchingSql, matching } from "./matching.js";
import { boundedSelect, guarded, quoted } from "./sql-text.js";
import { type StandardSql, StandardStatements, sortable } from "./standard-statements.js";

/**
 * A dialect for databases that have identifiers in double quotes, `CREATE ... IF NOT EXISTS`, the views of
 * `information_schema`, `INSERT ... ON CONFLICT` and `LIMIT`, from what differs between them. Where a database differs
 * further, override members: `{ ...standardDialect(differences), upsert }`.
 * @beta
 */
export function standardDialect(differences: StandardSql): Dialect {
  const sql = new StandardStatements(differences);
  const cells: Cells = { ...usualCells, ...differences.cells };
  return {
    database: differences.database ?? "sqlite",
    // A column with the name of what identifies a row would take its place in statements.
    reservedColumns: [...(differences.reservedColumns ?? []), differences.rowId.toLowerCase()],
    longestText: Number.POSITIVE_INFINITY,
    comparesLetters: differences.readTime === undefined,
    columnKey: lowerCase,
    allowed: (name) => name,
    catalogue: (tables) => sql.catalogue(tables),
    columnKind: (type) => differences.kinds.find(([pattern]) => pattern.test(type))?.[1] ?? "other",
    cell: (kind, value) => (cells[kind] ?? cells.other)(value),
    createSchema: (at) => [plain(at, `CREATE SCHEMA IF NOT EXISTS ${quoted(at.schema)}`)],
    createTable: (table) => sql.createTable(table),
    addColumns: (name, columns) => sql.addColumns(name, columns),
    widenColumns: () => [],
    insert: (rows) => sql.insert(rows),
    upsert: (row) => sql.upsert(row),
    ...guarded(sql.guarded),
    remove: (rows) => sql.remove(rows),
    selectColumns: (columns, rows) => sql.selectColumns(columns, rows),
    selectSettled: (rows) => [boundedSelect(rows, sql.guarded)],
    commitUnit: ({ database }) => ({ database, schema: "" }),
    positionsTable: () => ({ database: "", schema: "deneb", table: "positions" }),
    deadLettersTable: () => ({ database: "", schema: "deneb", table: "letters" }),
    registerTable: () => ({ database: "", schema: "deneb", table: "tables" }),
    registered: (register, tables) => sql.registered(register, tables),
    tablesWith: (columns, units) => units.map((at) => sql.tablesWith(columns, at)),
    count: ({ name }) => plain(name, `SELECT count(*) FROM ${sql.path(name)}`),
    countOlder: (history, before, limit) => sql.countOlder(history, before, limit),
    deleteOlder: (history, before, limit) => sql.deleteOlder(history, before, limit),
    deleteExcess: (history, newest, limit) => sql.deleteExcess(history, newest, limit),
    ...matching(matchingOf(sql, differences)),
    noteTexts: () => [],
    createIndexes: (name, indexes) => sql.createIndexes(name, indexes),
    errors: differences.errors,
  };
}

const usualCells: Cells = {
  text: plainCell,
  longtext: plainCell,
  integer: integerCell,
  number: doubleCell,
  boolean: booleanCell("true", "false"),
  time: utcTime,
  json: strictJsonCell,
  other: plainCell,
};

function matchingOf(sql: StandardStatements, { rowId, types }: StandardSql): MatchingSql {
  return {
    path: (name) => sql.path(name),
    quoted,
    parameter: sql.guarded.parameter,
    time: sortable,
    timeParameter: ({ kind }, parameter) => (kind === "time" ? `CAST(${parameter} AS ${types.time})` : parameter),
    is: ({ name }, parameter) => `${quoted(name)} = ${parameter}`,
    // Every database has it, and it minds letter case.
    contains: ({ name }, parameter) => `replace(${quoted(name)}, ${parameter}, '') <> ${quoted(name)}`,
    deletion: (path, where, limit) =>
      `DELETE FROM ${path} WHERE ${rowId} IN (SELECT ${rowId} FROM ${path}${where} LIMIT ${limit})`,
    text: ({ name }) => quoted(name),
  };
}
