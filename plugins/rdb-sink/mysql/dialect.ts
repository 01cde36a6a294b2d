import {
  booleanCell,
  boundedSelect,
  type Cells,
  type Column,
  type ColumnKind,
  type Dialect,
  doubleCell,
  doublesJsonCell,
  type GuardedSql,
  guarded,
  integerCell,
  keyedSelect,
  matching,
  plain,
  plainCell,
  type Statement,
  type TableDefinition,
  type TableName,
  utcTime,
} from "deneb/sql";
import { commitWait } from "./commit-wait.js";
import { mysqlErrors } from "./errors.js";
import { keptRows, matchingSql, parts, sortable } from "./matching.js";
import { indexText, mysqlPartitions, partitionClause, timeDefinition } from "./partitions.js";
import { insert, keyOf, path, quoted, remove, upsert } from "./statements.js";
import { mysqlViews } from "./views.js";

const LONGEST_TEXT_BYTES = 65_535;
const MOST_BYTES_OF_A_CHARACTER = 4;
// An index takes 3,072 bytes.
const MOST_CHARACTERS_OF_A_KEY = 768;

/** Of MariaDB: with the history of its rows. */
const TABLE_TYPES = "('BASE TABLE', 'SYSTEM VERSIONED')";

// Earlier versions kept positions beside the rows, in the database of each service.
const EARLIER_POSITIONS = `
  SELECT table_schema, table_schema, table_name FROM information_schema.tables
  WHERE table_name = 'deneb_positions' AND table_type IN ${TABLE_TYPES}
  ORDER BY table_schema LIMIT 1000`;

const sql: GuardedSql = {
  path,
  quoted,
  parameter: () => "?",
  same: "<=>",
  integer: "SIGNED",
  unlessThere: "",
  returning: "",
};

const byContent = matching(matchingSql);

/** MySQL and MariaDB, where a schema is a database. */
export const mysql = {
  database: "mysql",
  // The key that MySQL adds with `sql_generate_invisible_primary_key`: a value for it from a sender would use up its numbers. The
  // others are names that InnoDB has for itself, and refuses in any letter case (1166).
  reservedColumns: ["my_row_id", "db_row_id", "db_trx_id", "db_roll_ptr", "fts_doc_id"],
  longestText: Math.floor(LONGEST_TEXT_BYTES / MOST_BYTES_OF_A_CHARACTER),
  comparesLetters: true,
  // A varchar: an index takes neither a text nor JSON.
  keyKind: "other",
  mostColumns: 1017,
  definesApart: true,
  columnKey: keyOf,
  allowed: (name) => name,
  catalogue,
  columnKind: (type) => kinds.get(type) ?? "other",
  cell: (kind, value) => (cells[kind] ?? cells.other)(value),
  createSchema: (at) => [plain(at, `CREATE DATABASE IF NOT EXISTS ${quoted(at.schema)} CHARACTER SET utf8mb4`)],
  createTable,
  addColumns: (name, columns) => {
    const additions = columns.map((column) => `ADD COLUMN ${ofUnicode(column)}`);
    return [plain(name, `ALTER TABLE ${path(name)} ${additions.join(", ")}`)];
  },
  widenColumns: (name, columns) => {
    const changes = columns.map((column) => `MODIFY COLUMN ${ofUnicode({ name: column, kind: "longtext" })}`);
    return [plain(name, `ALTER TABLE ${path(name)} ${changes.join(", ")}`)];
  },
  insert,
  upsert,
  uniqueKeys: (tables) => parts(tables).map(uniqueKeysOf),
  ...guarded(sql),
  remove,
  selectColumns: (columns, rows) => keyedSelect(columns, rows, sql),
  selectSettled: (rows) => {
    const question = boundedSelect(rows, sql);
    // InnoDB waits for rows that other transactions have changed or inserted.
    return [{ ...question, text: `${question.text} LOCK IN SHARE MODE` }, ...commitWait(rows)];
  },
  commitUnit: () => ({ database: "", schema: "" }),
  // One row for each sink and channel on the whole server, because a batch for several databases is one transaction.
  positionsTable: () => ({ database: "deneb", schema: "deneb", table: "deneb_positions" }),
  earlierPositions: plain({ database: "", schema: "" }, EARLIER_POSITIONS),
  deadLettersTable: () => ({ database: "deneb", schema: "deneb", table: "deneb_letters" }),
  registerTable: (of) => ({ ...of, table: "deneb_tables" }),
  registered,
  tablesWith: (columns, units) => units.map((at) => ({ at, text: tablesWith(columns.length), runs: [columns] })),
  count: ({ name }) => plain(name, `SELECT count(*) FROM ${path(name)}`),
  countOlder: ({ name, time }, before, limit) => ({
    at: name,
    text: `SELECT count(*) FROM (SELECT 1 FROM ${path(name)} WHERE ${sortable(time)} < ? LIMIT ${limit}) AS older`,
    runs: [[before]],
  }),
  deleteOlder: ({ name, time }, before, limit) => ({
    at: name,
    text: `DELETE FROM ${path(name)} WHERE ${sortable(time)} < ? LIMIT ${limit}`,
    runs: [[before]],
  }),
  // Rows have no identifier, so the oldest ones are deleted by number.
  deleteExcess: ({ name, time }, _newest, limit) =>
    plain(name, `DELETE FROM ${path(name)} ORDER BY ${quoted(time.name)} IS NULL, ${sortable(time)} LIMIT ${limit}`),
  ...byContent,
  // Triggers, rules and row security may keep rows without an error.
  deleteMatching: (rows, limit) => ({ ...byContent.deleteMatching(rows, limit), changes: limit }),
  keptRows,
  noteTexts: () => [],
  partitions: mysqlPartitions,
  createIndexes: (name, indexes) =>
    indexes.map((index) => plain(name, `ALTER TABLE ${path(name)} ADD ${indexText(index)}`)),
  indexNames: (name) => ({
    at: name,
    text: "SELECT DISTINCT index_name FROM information_schema.statistics WHERE table_schema = ? AND table_name = ?",
    runs: [[name.schema, name.table]],
  }),
  tableSizes,
  errors: mysqlErrors,
  views: mysqlViews(keyOf),
} as const satisfies Dialect;

const types = {
  text: "text",
  longtext: "longtext",
  integer: "bigint",
  number: "double",
  boolean: "boolean",
  time: "datetime(6)",
  // MariaDB stores JSON as longtext; the comment identifies the column.
  json: "json COMMENT 'json'",
  other: "text",
  geometry: "text",
  geometryz: "text",
} as const satisfies Record<ColumnKind, string>;

const kinds: ReadonlyMap<string, ColumnKind> = new Map([
  ["text", "text"],
  ...["mediumtext", "longtext"].map((type) => [type, "longtext"] as const),
  ...["tinyint", "smallint", "mediumint", "int", "bigint", "integer identity"].map(
    (type) => [type, "integer"] as const,
  ),
  ...["double", "float", "decimal"].map((type) => [type, "number"] as const),
  ["boolean", "boolean"],
  ...["datetime", "timestamp", "date"].map((type) => [type, "time"] as const),
  ["json", "json"],
]);

// MariaDB takes 31 levels and keeps names as they are; MySQL takes 100 and counts the bytes of a name in 16 bits.
const MOST_LEVELS_OF_JSON = 31;
const LONGEST_NAME_OF_JSON = 65_535;

const cells: Cells = {
  text: ({ plain: text }) => (Buffer.byteLength(text) <= LONGEST_TEXT_BYTES ? text : undefined),
  longtext: plainCell,
  integer: integerCell,
  number: doubleCell,
  boolean: booleanCell("1", "0"),
  time: utcTime,
  json: doublesJsonCell({ deepest: MOST_LEVELS_OF_JSON, longestName: LONGEST_NAME_OF_JSON }),
  other: plainCell,
};

function catalogue(tables: readonly TableName[]): readonly Statement[] {
  const [first] = tables;
  if (first === undefined) return [];
  const schemas = [...new Set(tables.map(({ schema }) => schema))];
  return [
    {
      at: first,
      text: `SELECT schema_name, schema_name, NULL, NULL, NULL FROM information_schema.schemata WHERE schema_name IN (${schemas.map(() => "?").join(", ")})`,
      runs: [schemas],
    },
    ...parts(tables).map((part) => columnsOf(first, part)),
  ];
}

function uniqueKeysOf(tables: readonly TableName[]): Statement {
  return {
    at: tables[0] ?? { database: "", schema: "" },
    text: `
    SELECT table_schema, table_schema, table_name, index_name, column_name
    FROM information_schema.statistics
    WHERE non_unique = 0 AND (table_schema, table_name) IN (${tables.map(() => "(?, ?)").join(", ")})`,
    runs: [tables.flatMap(({ schema, table }) => [schema, table])],
  };
}

function columnsOf(at: TableName, tables: readonly TableName[]): Statement {
  const text = `
    SELECT table_schema, table_schema, table_name, column_name, CASE
      WHEN extra LIKE 'auto_increment%' OR column_default LIKE 'nextval(%' THEN 'integer identity'
      WHEN column_comment = 'json' THEN 'json' WHEN column_type = 'tinyint(1)' THEN 'boolean' ELSE data_type END
    FROM information_schema.columns WHERE (table_schema, table_name) IN (${tables.map(() => "(?, ?)").join(", ")})`;
  return { at, text, runs: [tables.flatMap(({ schema, table }) => [schema, table])] };
}

function tableSizes(tables: readonly TableName[]): readonly Statement[] {
  return parts(tables).map((part) => ({
    at: part[0] ?? { database: "", schema: "" },
    text: `
    SELECT table_schema, table_schema, table_name, sum(table_rows), nullif(count(partition_name), 0)
    FROM information_schema.partitions WHERE (table_schema, table_name) IN (${part.map(() => "(?, ?)").join(", ")})
    GROUP BY table_schema, table_name`,
    runs: [part.flatMap(({ schema, table }) => [schema, table])],
  }));
}

function registered(register: TableName, tables?: readonly TableName[]): readonly Statement[] {
  // A register lists the tables of its own database only.
  const text = `SELECT schema_name, schema_name, table_name, sink, kind, subject FROM ${path(register)} WHERE schema_name = ?`;
  if (tables === undefined) return [{ at: register, text, runs: [[register.schema]] }];
  const names = tables.map(({ table }) => table);
  return parts(names).map((part) => ({
    at: register,
    text: `${text} AND table_name IN (${part.map(() => "?").join(", ")})`,
    runs: [[register.schema, ...part]],
  }));
}

function createTable({ name, columns, key, partitioning, indexes = [] }: TableDefinition): readonly Statement[] {
  const length = Math.floor(MOST_CHARACTERS_OF_A_KEY / Math.max(1, key.length));
  const unique = key.length === 0 ? [] : [`PRIMARY KEY (${key.map(quoted).join(", ")})`];
  // Two ids that differ in letter case only are two entities.
  const parts = columns.map((column) => {
    if (key.includes(column.name)) return `${quoted(column.name)} varchar(${length}) COLLATE utf8mb4_bin`;
    return partitioning?.time.name === column.name ? timeDefinition(column) : definition(column);
  });
  const clause = partitioning === undefined ? "" : partitionClause(partitioning);
  const own = indexes.map((index) => indexText(index, partitioning?.time.name));
  return [
    plain(
      name,
      `CREATE TABLE IF NOT EXISTS ${path(name)} (${[...parts, ...unique, ...own].join(", ")}) CHARACTER SET utf8mb4${clause}`,
    ),
  ];
}

function tablesWith(columns: number): string {
  return `
    SELECT c.table_schema, c.table_schema, c.table_name, c.column_name, c.data_type
    FROM information_schema.columns c
    JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
    WHERE t.table_type IN ${TABLE_TYPES} AND lower(c.column_name) IN (${Array.from({ length: columns }, () => "lower(?)").join(", ")})
      AND c.table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')`;
}

function definition({ name, kind }: Column): string {
  return `${quoted(name)} ${types[kind]}`;
}

/** For a table of somebody else, whose character set may lack characters. */
function ofUnicode(column: Column): string {
  const isText = types[column.kind].endsWith("text");
  return `${definition(column)}${isText ? " CHARACTER SET utf8mb4" : ""}`;
}
