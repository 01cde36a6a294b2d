import { type Column, type LastRow, quoted, type Statement } from "deneb/sql";
import { postgresqlPath as path } from "./path.js";

/** Adds a row of last data, or changes the stored one when this one is newer. */
export function postgresqlUpsert({ name, columns, cells, key, time, timeFormat }: LastRow): Statement {
  const places = columns.map((_, index) => `$${index + 1}`).join(", ");
  const changed = columns.filter((column) => !key.includes(column.name)).map((column) => quoted(column.name));
  const own = quoted(time.name);
  const format = time.kind === "text" ? timeFormat : undefined;
  const read = (column: string) => timeOf(column, time, format === undefined ? undefined : columns.length + 1);
  const text = `
    INSERT INTO ${path(name)} AS stored (${columns.map((column) => quoted(column.name)).join(", ")}) VALUES (${places})
    ON CONFLICT (${key.map(quoted).join(", ")}) DO UPDATE SET ${changed.map((column) => `${column} = EXCLUDED.${column}`).join(", ")}
    WHERE stored.${own} IS NULL OR ${read(`stored.${own}`)} < ${read(`EXCLUDED.${own}`)}`;
  return { at: name, text, runs: [format === undefined ? cells : [...cells, format]] };
}

/** A time to compare; texts are read with a format, or as ISO 8601. */
function timeOf(column: string, { kind }: Column, formatParameter: number | undefined): string {
  if (kind !== "text") return column;
  return formatParameter === undefined
    ? `${column}::timestamptz`
    : `to_timestamp(${column}, $${formatParameter}::text)`;
}
