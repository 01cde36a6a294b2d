import { type Column, type KeptRowsSql, type MatchingSql, matching } from "deneb/sql";
import { path, quoted } from "./statements.js";

export const matchingSql: MatchingSql = {
  path,
  quoted,
  parameter: () => "?",
  time: sortable,
  timeParameter: (_column, parameter) => parameter,
  // The first comparison can use an index. It ignores letter case and spaces at the end, the second one does not.
  is: ({ name }, parameter) => `${quoted(name)} = ${parameter} AND ${bytes(quoted(name))} = ${bytes(parameter)}`,
  contains: ({ name }, parameter) => `LOCATE(${bytes(parameter)}, ${bytes(quoted(name))}) > 0`,
  written: { is: 2 },
  deletion: (table, which, limit) => `DELETE FROM ${table}${which} LIMIT ${limit}`,
  text: exported,
};

function bytes(text: string): string {
  return `CAST(CONVERT(${text} USING utf8mb4) AS BINARY)`;
}

function exported({ name, kind }: Column): string {
  const column = quoted(name);
  if (kind === "time") return `DATE_FORMAT(${column}, '%Y-%m-%dT%H:%i:%s.%fZ')`;
  return kind === "text" || kind === "longtext" ? column : `CAST(${column} AS CHAR)`;
}

export function sortable({ name, kind }: Column): string {
  return kind === "time" ? quoted(name) : `REPLACE(${quoted(name)}, 'T', ' ')`;
}

const TABLES_PER_QUESTION = 500;

export function parts<T>(items: readonly T[]): readonly (readonly T[])[] {
  const starts = Array.from(
    { length: Math.ceil(items.length / TABLES_PER_QUESTION) },
    (_, i) => i * TABLES_PER_QUESTION,
  );
  return starts.map((start) => items.slice(start, start + TABLES_PER_QUESTION));
}

const ever = matching({ ...matchingSql, path: (name) => `${path(name)} FOR SYSTEM_TIME ALL` });

/** Of MariaDB: system-versioned tables. */
export const keptRows: KeptRowsSql = {
  keeping: (tables) =>
    parts(tables).map((part) => ({
      at: part[0] ?? { database: "", schema: "" },
      text: `
    SELECT table_schema, table_schema, table_name FROM information_schema.tables
    WHERE table_type = 'SYSTEM VERSIONED' AND (table_schema, table_name) IN (${part.map(() => "(?, ?)").join(", ")})`,
      runs: [part.flatMap(({ schema, table }) => [schema, table])],
    })),
  countEver: ever.countMatching,
  remedy: (name) =>
    "it is system-versioned, so its history keeps deleted rows (FOR SYSTEM_TIME ALL); with the right DELETE HISTORY " +
    `DELETE HISTORY FROM ${path(name)} removes that history, of all entities`,
};
