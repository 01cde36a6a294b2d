import type { Column } from "../contract/column.js";
import type { Dialect } from "../contract/dialect.js";
import type { MatchingRows, RowCondition } from "../contract/matching.js";
import type { Cell, Statement, TableName } from "../contract/statement.js";

/** What differs between databases in statements that select rows by what they hold. @beta */
export interface MatchingSql {
  path(name: TableName): string;
  quoted(name: string): string;
  /** The placeholder of a parameter by its number, from 1. */
  parameter(number: number): string;
  /** A value that is compared with times. In texts NGSI-LD writes them with T and Z, NGSI v2 with a space. */
  time(column: Column): string;
  /** The parameter of a time, converted for a column of this kind. */
  timeParameter(column: Column, parameter: string): string;
  /** A time in UTC without a zone, as the parameter of such a column; unchanged if absent. */
  timeText?(column: Column, text: string): string;
  /** Whether a column holds exactly the parameter. */
  is(column: Column, parameter: string): string;
  /** Whether the text of a column has the parameter as a part. */
  contains(column: Column, parameter: string): string;
  /** Where placeholders have no numbers, how often each test writes its own; 1 if absent. */
  readonly written?: Partial<Readonly<Record<RowCondition["test"], number>>>;
  /** Deletes up to `limit` rows; `where` is empty or begins with WHERE. */
  deletion(path: string, where: string, limit: number): string;
  /** The value of a column as text: a time as ISO 8601, or as the database writes it. */
  text(column: Column): string;
}

/** The statements of a dialect that count, delete and read rows by what they hold. @beta */
export function matching(sql: MatchingSql): Pick<Dialect, "countMatching" | "deleteMatching" | "readMatching"> {
  return {
    countMatching: (rows, limit) => {
      const { where, cells } = conditionsOf(rows, sql);
      const path = sql.path(rows.name);
      const text = `SELECT count(*) FROM (SELECT 1 FROM ${path}${where} LIMIT ${limit}) AS matching`;
      return { at: rows.name, text, runs: [cells] };
    },
    deleteMatching: (rows, limit) => {
      const { where, cells } = conditionsOf(rows, sql);
      return { at: rows.name, text: sql.deletion(sql.path(rows.name), where, limit), runs: [cells] };
    },
    readMatching: (columns, rows): Statement => {
      const { where, cells } = conditionsOf(rows, sql);
      // Rows have no names here, and senders choose those of columns: the driver of MySQL refuses rows with a "__proto__".
      const wanted = columns.map((column, at) => `${sql.text(column)} AS c${at + 1}`).join(", ");
      return { at: rows.name, text: `SELECT ${wanted} FROM ${sql.path(rows.name)}${where}`, runs: [cells] };
    },
  };
}

function conditionsOf({ conditions }: MatchingRows, sql: MatchingSql): { where: string; cells: readonly Cell[] } {
  const cells: Cell[] = [];
  const texts = conditions.map(({ column, test, text }) => {
    const isTime = test === "from" || test === "before";
    const cell = isTime ? (sql.timeText?.(column, text) ?? text) : text;
    for (let count = sql.written?.[test] ?? 1; count > 0; count -= 1) cells.push(cell);
    const parameter = sql.parameter(cells.length);
    if (test === "is") return sql.is(column, parameter);
    if (test === "contains") return sql.contains(column, parameter);
    return `${sql.time(column)} ${test === "from" ? ">=" : "<"} ${sql.timeParameter(column, parameter)}`;
  });
  return { where: texts.length === 0 ? "" : ` WHERE ${texts.join(" AND ")}`, cells };
}
