import type { Column, MatchingSql } from "deneb/sql";
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
