import { lowerCase } from "deneb/ngsi";
import {
  booleanCell,
  boundedSelect,
  type Cell,
  type Cells,
  type Column,
  type ColumnKind,
  columnList,
  type Dialect,
  doubleCell,
  type GuardedSql,
  guarded,
  type History,
  integerCell,
  jsonCell,
  type KeyedRows,
  keyedSelect,
  matching,
  memberChanges,
  plain,
  plainCell,
  quoted,
  type RemovedRows,
  rememberingUpserts,
  type Statement,
  type TableDefinition,
  type TableIndex,
  type TableName,
  type TableRows,
  utcTime,
  writtenColumns,
} from "deneb/sql";
import { sqliteErrors } from "./errors.js";
import { matchingSql, sortable, timeOf } from "./matching.js";
import { deletionOf, ROW_ID } from "./row-ids.js";

const sql: GuardedSql = {
  path: ({ table }) => quoted(table),
  quoted,
  parameter: () => "?",
  same: "IS",
  integer: "INTEGER",
  unlessThere: " ON CONFLICT DO NOTHING",
  returning: "",
};

const upsert = rememberingUpserts(({ name, columns, key, time, members }) => {
  const more: Cell[] = [];
  const names = columns.map((column) => quoted(column.name)).join(", ");
  const written = writtenColumns({ columns, key, members }).map((column) => quoted(column.name));
  const changes = [
    ...written.map((column) => `${column} = excluded.${column}`),
    ...memberChanges(members, {
      stored: (column) => `stored.${quoted(column)}`,
      parameter: (cell) => {
        more.push(cell);
        return "?";
      },
      contains: (text, part) => `instr(${text}, ${part}) > 0`,
      joined: (texts) => texts.join(" || "),
    }).map(({ column, value }) => `${quoted(column)} = ${value()}`),
  ];
  const own = quoted(time.name);
  const text = `
    INSERT INTO ${quoted(name.table)} AS stored (${names}) VALUES (${columns.map(() => "?").join(", ")})
    ON CONFLICT (${key.map(quoted).join(", ")}) DO UPDATE SET ${changes.join(", ")}
    WHERE stored.${own} IS NULL OR ${timeOf(`stored.${own}`)} < ${timeOf(`excluded.${own}`)}`;
  return { text, more };
});

const byContent = matching(matchingSql);

export const sqlite = {
  database: "sqlite",
  reservedColumns: [ROW_ID],
  longestText: Number.POSITIVE_INFINITY,
  mostColumns: 2000,
  columnKey: lowerCase,
  allowed: (name) => ({ ...name, table: name.table.startsWith("sqlite_") ? `_${name.table}` : name.table }),
  catalogue,
  columnKind: (type) => kinds.find(([pattern]) => pattern.test(type))?.[1] ?? "other",
  cell: (kind, value) => (cells[kind] ?? cells.other)(value),
  // The file is the schema; it is created when it is opened.
  createSchema: () => [],
  createTable,
  addColumns: (name, columns) =>
    columns.map((column) => plain(name, `ALTER TABLE ${quoted(name.table)} ADD COLUMN ${definition(column)}`)),
  widenColumns: () => [],
  insert,
  upsert,
  ...guarded(sql),
  remove,
  selectColumns: (columns, rows) => keyedSelect(columns, rows, sql),
  // The transactions of a process end with it, and this process runs one at a time.
  selectSettled: (rows) => [boundedSelect(rows, sql)],
  commitUnit: (of) => ({ database: "", schema: of.schema }),
  positionsTable: (of) => ({ ...of, table: "deneb_positions" }),
  deadLettersTable: (of) => ({ ...of, table: "deneb_letters" }),
  registerTable: (of) => ({ ...of, table: "deneb_tables" }),
  registered: (register, tables) => {
    const text = `
      SELECT '', schema_name, table_name, sink, kind, subject FROM ${quoted(register.table)} WHERE schema_name = ?`;
    if (tables === undefined) return [{ at: register, text, runs: [[register.schema]] }];
    const named = JSON.stringify(tables.map(({ table }) => table));
    return [
      {
        at: register,
        text: `${text} AND table_name IN (SELECT value FROM json_each(?))`,
        runs: [[register.schema, named]],
      },
    ];
  },
  tablesWith: (columns, units) =>
    units.map((at) => ({ at, text: TABLES_WITH, runs: [[at.schema, JSON.stringify(columns)]] })),
  count: ({ name }) => plain(name, `SELECT count(*) FROM ${quoted(name.table)}`),
  countOlder: ({ name, time }, before, limit) => ({
    at: name,
    text: `SELECT count(*) FROM (SELECT 1 FROM ${quoted(name.table)} WHERE ${sortable(time)} < ? LIMIT ${limit})`,
    runs: [[before]],
  }),
  deleteOlder: (history, before, limit) =>
    deletion(history, `WHERE ${sortable(history.time)} < ? LIMIT ${limit}`, [before]),
  deleteExcess: (history, newest, limit) => {
    const { name, kind } = history.time;
    const order = `${quoted(name)} IS NULL DESC, ${sortable({ name, kind })} DESC, ${ROW_ID} DESC`;
    return deletion(history, `ORDER BY ${order} LIMIT ${limit} OFFSET ${newest}`, []);
  },
  ...byContent,
  // Triggers, rules and row security may keep rows without an error.
  deleteMatching: (rows, limit) => ({ ...byContent.deleteMatching(rows, limit), changes: limit }),
  noteTexts: () => [],
  createIndexes,
  errors: sqliteErrors,
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
  geometry: "text",
  geometryz: "text",
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

/** Hidden columns of virtual tables; generated columns are hidden in another way. */
const OF_MODULES = 1;

// The key of a table is the number of its rows where it has no index.
function catalogue(tables: readonly TableName[]): readonly Statement[] {
  const schemas = [...new Set(tables.map(({ schema }) => schema))];
  return schemas.map((schema) => ({
    at: { database: "", schema },
    text: `
      SELECT '', ?1, NULL, NULL, NULL
      UNION ALL
      SELECT '', ?1, wanted.value, found.name, CASE
        WHEN found.pk AND NOT EXISTS (SELECT 1 FROM pragma_index_list(wanted.value) WHERE origin = 'pk')
        THEN 'integer identity' ELSE found.type END
      FROM json_each(?2) AS wanted JOIN pragma_table_xinfo(wanted.value) AS found WHERE found.hidden <> ${OF_MODULES}`,
    runs: [[schema, JSON.stringify(tables.filter((name) => name.schema === schema).map(({ table }) => table))]],
  }));
}

function createTable({ name, columns, key, indexes = [] }: TableDefinition): readonly Statement[] {
  const unique = key.length === 0 ? [] : [`PRIMARY KEY (${key.map(quoted).join(", ")})`];
  const parts = [...columns.map(definition), ...unique];
  return [
    plain(name, `CREATE TABLE IF NOT EXISTS ${quoted(name.table)} (${parts.join(", ")})`),
    ...createIndexes(name, indexes),
  ];
}

function createIndexes(name: TableName, indexes: readonly TableIndex[]): readonly Statement[] {
  return indexes.map((index) => {
    const columns = index.columns.map((column) => quoted(column.name)).join(", ");
    return plain(name, `CREATE INDEX IF NOT EXISTS ${quoted(index.name)} ON ${quoted(name.table)} (${columns})`);
  });
}

function where({ key }: KeyedRows): string {
  return `WHERE ${key.map((column) => `${quoted(column)} = ?`).join(" AND ")}`;
}

function insert({ name, columns, rows }: TableRows): readonly Statement[] {
  const values = columns.map(() => "?").join(", ");
  const into = `INSERT INTO ${quoted(name.table)} (${columnList(columns)})`;
  return [{ at: name, text: `${into} VALUES (${values})`, runs: rows }];
}

function remove({ until, ...rows }: RemovedRows): Statement {
  const text = `DELETE FROM ${quoted(rows.name.table)} ${where(rows)}`;
  if (until === undefined) return { at: rows.name, text, runs: [rows.cells] };
  const own = quoted(until.time.name);
  const last = rows.cells.length + 1;
  const notAfter = `(${own} IS NULL OR ${timeOf(own)} <= ${timeOf(`?${last}`)})`;
  return { at: rows.name, text: `${text} AND ${notAfter}`, runs: [[...rows.cells, until.cell]] };
}

function deletion({ name }: History, which: string, parameters: readonly string[]): Statement {
  return { at: name, text: deletionOf(quoted(name.table), which), runs: [parameters] };
}

const TABLES_WITH = `
  SELECT '', ?1, tables.name, found.name, found.type
  FROM sqlite_master AS tables JOIN pragma_table_xinfo(tables.name) AS found
  WHERE found.hidden <> ${OF_MODULES} AND tables.type = 'table' AND lower(found.name) IN (SELECT lower(value) FROM json_each(?2))`;

function definition({ name, kind }: Column): string {
  return `${quoted(name)} ${types[kind]}`;
}
