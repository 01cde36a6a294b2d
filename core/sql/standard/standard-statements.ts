import type { Database } from "../../ngsi/index.js";
import type { Cells, Column, ColumnKind, GeometryKind, PlainKind, TableIndex } from "../contract/column.js";
import type { DatabaseErrorReader } from "../contract/database-error.js";
import type { History, TableDefinition, TableRows } from "../contract/dialect.js";
import {
  type LastRow,
  memberChanges,
  type RemovedRows,
  rememberingUpserts,
  type UpsertText,
  writtenColumns,
} from "../contract/last-row.js";
import { type Cell, type KeyedRows, plain, type Statement, type TableName } from "../contract/statement.js";
import { columnList, type GuardedSql, insertedTogether, keyedSelect, quoted } from "./sql-text.js";

/** What {@link standardDialect} needs to know about a database. @beta */
export interface StandardSql {
  /**
   * The database whose naming rules apply; `sqlite` if absent: lower case, at most 63 bytes, no databases beside that
   * of the configuration.
   */
  readonly database?: Database;
  /** Column names that the database reserves, in lower case. */
  readonly reservedColumns?: readonly string[];
  /** The type of a new column of each kind. */
  readonly types: Readonly<Record<PlainKind, string> & Partial<Record<GeometryKind, string>>>;
  /** The kinds by the types of the catalogue; the first match counts, `other` if there is none. */
  readonly kinds: readonly (readonly [type: RegExp, kind: ColumnKind])[];
  /** Conversions of values that differ from the default. */
  readonly cells?: Partial<Cells>;
  /** An expression that identifies a row and is greater for later ones, such as `rowid`. No attribute has a column of that name. */
  readonly rowId: string;
  /** The placeholder of a parameter by its number, from 1; `?` if absent. */
  parameter?(number: number): string;
  /**
   * Converts a text column with ISO 8601 times to a comparable value; if absent, the texts are compared, and the sink
   * stores those of last data in UTC.
   */
  readTime?(column: string): string;
  /** The most parameters of an INSERT of several rows; 30,000 if absent. 1 for a database that takes one row each. */
  readonly mostParameters?: number;
  /** The qualified name of a table in SQL; `"schema"."table"` if absent. */
  path?(name: TableName): string;
  readonly errors: DatabaseErrorReader;
}

const TABLES_PER_QUESTION = 200;
const MOST_PARAMETERS = 30_000; // SQLite takes 32,766, PostgreSQL and MySQL 65,535.

/** The texts of a standard dialect. */
export class StandardStatements {
  readonly #sql: StandardSql;

  constructor(sql: StandardSql) {
    this.#sql = sql;
  }

  get guarded(): GuardedSql {
    return {
      path: (name) => this.path(name),
      quoted,
      parameter: (number) => this.#parameter(number),
      same: "IS NOT DISTINCT FROM",
      integer: this.#sql.types.integer,
      unlessThere: " ON CONFLICT DO NOTHING",
      // Many drivers return rows but not the number of changed rows.
      returning: " RETURNING 1",
    };
  }

  path(name: TableName): string {
    return this.#sql.path?.(name) ?? `${quoted(name.schema)}.${quoted(name.table)}`;
  }

  catalogue(tables: readonly TableName[]): readonly Statement[] {
    const [at] = tables;
    if (at === undefined) return [];
    const schemas = [...new Set(tables.map(({ schema }) => schema))];
    const starts = Array.from(
      { length: Math.ceil(tables.length / TABLES_PER_QUESTION) },
      (_, index) => index * TABLES_PER_QUESTION,
    );
    return [
      ...schemas.map((schema) => ({
        at,
        text: `SELECT '', schema_name, NULL, NULL, NULL FROM information_schema.schemata WHERE schema_name = ${this.#parameter(1)}`,
        runs: [[schema]],
      })),
      ...starts.map((start) => this.#columnsOf(tables.slice(start, start + TABLES_PER_QUESTION), at)),
    ];
  }

  #columnsOf(tables: readonly TableName[], at: TableName): Statement {
    const wanted = tables.map(
      (_, index) =>
        `(table_schema = ${this.#parameter(2 * index + 1)} AND table_name = ${this.#parameter(2 * index + 2)})`,
    );
    return {
      at,
      text: `SELECT '', table_schema, table_name, column_name, data_type FROM information_schema.columns WHERE ${wanted.join(" OR ")}`,
      runs: [tables.flatMap(({ schema, table }) => [schema, table])],
    };
  }

  createTable({ name, columns, key, indexes = [] }: TableDefinition): readonly Statement[] {
    const unique = key.length === 0 ? [] : [`PRIMARY KEY (${key.map(quoted).join(", ")})`];
    const parts = [...columns.map((column) => this.#definition(column)), ...unique];
    return [
      plain(name, `CREATE TABLE IF NOT EXISTS ${this.path(name)} (${parts.join(", ")})`),
      ...this.createIndexes(name, indexes),
    ];
  }

  createIndexes(name: TableName, indexes: readonly TableIndex[]): readonly Statement[] {
    return indexes.map((index) => {
      const columns = index.columns.map((column) => quoted(column.name)).join(", ");
      return plain(name, `CREATE INDEX IF NOT EXISTS ${quoted(index.name)} ON ${this.path(name)} (${columns})`);
    });
  }

  addColumns(name: TableName, columns: readonly Column[]): readonly Statement[] {
    return columns.map((column) =>
      plain(name, `ALTER TABLE ${this.path(name)} ADD COLUMN ${this.#definition(column)}`),
    );
  }

  insert({ name, columns, rows }: TableRows): readonly Statement[] {
    const into = `INSERT INTO ${this.path(name)} (${columnList(columns)}) VALUES`;
    const most = Math.floor((this.#sql.mostParameters ?? MOST_PARAMETERS) / columns.length);
    return insertedTogether(rows, Math.max(1, most)).map(({ count, runs }) => {
      const values = Array.from({ length: count }, (_, row) => this.#parameters(columns.length, row * columns.length));
      return { at: name, text: `${into} (${values.join("), (")})`, runs };
    });
  }

  readonly upsert = rememberingUpserts((row) => this.#upsert(row));

  #upsert({ name, columns, key, time, members }: LastRow): UpsertText {
    const more: Cell[] = [];
    const written = writtenColumns({ columns, key, members }).map((column) => quoted(column.name));
    const changes = [
      ...written.map((column) => `${column} = excluded.${column}`),
      ...memberChanges(members, {
        stored: (column) => `stored.${quoted(column)}`,
        parameter: (cell) => `CAST(${this.#parameter(columns.length + more.push(cell))} AS ${this.#sql.types.text})`,
        contains: (text, part) => `POSITION(${part} IN ${text}) > 0`,
        joined: (texts) => texts.join(" || "),
      }).map(({ column, value }) => `${quoted(column)} = ${value()}`),
    ];
    const own = quoted(time.name);
    const text = `
      INSERT INTO ${this.path(name)} AS stored (${columns.map((column) => quoted(column.name)).join(", ")})
      VALUES (${this.#parameters(columns.length)})
      ON CONFLICT (${key.map(quoted).join(", ")})
      DO UPDATE SET ${changes.join(", ")}
      WHERE stored.${own} IS NULL OR ${this.#read(`stored.${own}`, time)} < ${this.#read(`excluded.${own}`, time)}`;
    return { text, more };
  }

  remove({ until, ...rows }: RemovedRows): Statement {
    const all = this.#deletedBy(rows);
    if (until === undefined) return all;
    const { time, cell } = until;
    const given = `CAST(${this.#parameter(rows.cells.length + 1)} AS ${this.#sql.types[time.kind]})`;
    const own = quoted(time.name);
    const condition = `(${own} IS NULL OR ${this.#read(own, time)} <= ${this.#read(given, time)})`;
    return { ...all, text: `${all.text} AND ${condition}`, runs: [[...rows.cells, cell]] };
  }

  /** A comparable time. */
  #read(column: string, { kind }: Column): string {
    return kind === "text" ? (this.#sql.readTime?.(column) ?? inUtc(column)) : column;
  }

  #deletedBy({ name, key, cells }: KeyedRows): Statement {
    const conditions = key.map((column, index) => `${quoted(column)} = ${this.#parameter(index + 1)}`);
    return { at: name, text: `DELETE FROM ${this.path(name)} WHERE ${conditions.join(" AND ")}`, runs: [cells] };
  }

  selectColumns(columns: readonly string[], rows: KeyedRows): Statement {
    return keyedSelect(columns, rows, this.guarded);
  }

  registered(register: TableName, tables?: readonly TableName[]): readonly Statement[] {
    const text = `SELECT '', schema_name, table_name, sink, kind, subject FROM ${this.path(register)}`;
    if (tables === undefined) return [plain(register, text)];
    const named = `schema_name = ${this.#parameter(1)} AND table_name = ${this.#parameter(2)}`;
    return [{ at: register, text: `${text} WHERE ${named}`, runs: tables.map(({ schema, table }) => [schema, table]) }];
  }

  tablesWith(columns: readonly string[], at: Statement["at"]): Statement {
    const wanted = columns.map((_, index) => `lower(${this.#parameter(index + 1)})`).join(", ");
    const text = `
      SELECT '', c.table_schema, c.table_name, c.column_name, c.data_type
      FROM information_schema.columns c
      JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
      WHERE t.table_type = 'BASE TABLE' AND lower(c.column_name) IN (${wanted})`;
    return { at, text, runs: [columns] };
  }

  countOlder({ name, time }: History, before: string, limit: number): Statement {
    const text = `
      SELECT count(*) FROM (SELECT 1 FROM ${this.path(name)} WHERE ${this.#older(time)} LIMIT ${limit}) AS older`;
    return { at: name, text, runs: [[before]] };
  }

  deleteOlder({ name, time }: History, before: string, limit: number): Statement {
    return { at: name, text: this.#deletion(name, `WHERE ${this.#older(time)} LIMIT ${limit}`), runs: [[before]] };
  }

  deleteExcess({ name, time }: History, newest: number, limit: number): Statement {
    const order = `CASE WHEN ${quoted(time.name)} IS NULL THEN 0 ELSE 1 END, ${sortable(time)} DESC, ${this.#sql.rowId} DESC`;
    return plain(name, this.#deletion(name, `ORDER BY ${order} LIMIT ${limit} OFFSET ${newest}`));
  }

  #deletion(name: TableName, which: string): string {
    const { rowId } = this.#sql;
    return `DELETE FROM ${this.path(name)} WHERE ${rowId} IN (SELECT ${rowId} FROM ${this.path(name)} ${which})`;
  }

  #older(time: Column): string {
    const bound = time.kind === "time" ? `CAST(${this.#parameter(1)} AS ${this.#sql.types.time})` : this.#parameter(1);
    return `${sortable(time)} < ${bound}`;
  }

  #definition({ name, kind }: Column): string {
    return `${quoted(name)} ${this.#sql.types[kind] ?? this.#sql.types.text}`;
  }

  #parameter(number: number): string {
    return this.#sql.parameter?.(number) ?? "?";
  }

  #parameters(count: number, after = 0): string {
    return Array.from({ length: count }, (_, index) => this.#parameter(after + index + 1)).join(", ");
  }
}

export function sortable({ name, kind }: Column): string {
  return kind === "time" ? quoted(name) : `replace(${quoted(name)}, 'T', ' ')`;
}

function inUtc(column: string): string {
  return `replace(replace(replace(${column}, 'T', ' '), 'Z', ''), '"', '')`;
}
