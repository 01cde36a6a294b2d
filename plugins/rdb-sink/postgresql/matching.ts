import { type Column, type MatchingSql, quoted } from "deneb/sql";
import { path } from "./statements.js";

export const matchingSql: MatchingSql = {
  path,
  quoted,
  parameter: (number) => `$${number}`,
  time: sortable,
  // As a text of the type of the column: a timestamp without a zone is in UTC, and not in the zone of the session.
  timeParameter: (_column, parameter) => parameter,
  timeText: ({ kind }, text) => (kind === "time" ? `${text}+00` : text),
  is: (column, parameter) => `${asText(column)} OPERATOR(pg_catalog.=) ${parameter}`,
  contains: (column, parameter) => `pg_catalog.strpos(${asText(column)}, ${parameter}) > 0`,
  // Found once, and then read by address. Each partition of a table has its own ctids.
  deletion: (table, which, limit) => `
  WITH chosen AS MATERIALIZED (SELECT tableoid, ctid FROM ${table}${which} LIMIT ${limit})
  DELETE FROM ${table} WHERE ctid = ANY (ARRAY (SELECT ctid FROM chosen))
    AND (tableoid, ctid) IN (SELECT tableoid, ctid FROM chosen)`,
  text: exported,
};

/** Other types are compared as text; that of a text column can use an index. */
function asText({ name, kind }: Column): string {
  return kind === "text" || kind === "longtext" ? quoted(name) : `${quoted(name)}::text`;
}

function exported({ name, kind }: Column): string {
  if (kind === "geometry" || kind === "geometryz") return `ST_AsGeoJSON(${quoted(name)}, 15)`;
  return kind === "time" ? exportedTime(quoted(name)) : asText({ name, kind });
}

/** A time that ISO 8601 has no form for stays what it is: `infinity`, and a year before the first one. */
function exportedTime(column: string): string {
  const isZoned = `pg_catalog.pg_typeof(${column})::oid = 'timestamptz'::regtype::oid`;
  const utc = `CASE WHEN ${isZoned} THEN ${column}::timestamptz AT TIME ZONE 'UTC' ELSE ${column}::timestamp END`;
  const form = `CASE WHEN extract(year FROM ${utc}) < '0' THEN '${ISO} BC' ELSE '${ISO}' END`;
  return `CASE WHEN isfinite(${column}) THEN to_char(${utc}, ${form}) ELSE ${column}::text END`;
}

const ISO = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"';

export function sortable({ name, kind }: Column): string {
  return kind === "time" ? quoted(name) : `pg_catalog.replace(${quoted(name)}, 'T', ' ') COLLATE "C"`;
}
