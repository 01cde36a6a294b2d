import { nameLimits, shorten } from "deneb/ngsi";
import {
  type Column,
  plain,
  quoted,
  type Statement,
  type TableDefinition,
  type TableIndex,
  type TableName,
  type TimeRange,
} from "deneb/sql";
import { OF_THE_SERVER } from "./search-path.js";
import { path } from "./statements.js";

/** The statements after the definition of the columns of a new table. */
export function partitionedTable({ name, partitioning }: TableDefinition): {
  readonly clause: string;
  readonly more: readonly Statement[];
} {
  if (partitioning === undefined) return { clause: "", more: [] };
  const { time, ranges, hypertable } = partitioning;
  if (hypertable !== undefined) {
    const text = `
      SELECT create_hypertable(pg_catalog.format('%I.%I', $1::text, $2::text)::regclass, $3::name,
        chunk_time_interval => $4::interval, if_not_exists => true, create_default_indexes => false)`;
    return { clause: "", more: [{ at: name, text, runs: [[name.schema, name.table, time.name, `1 ${hypertable}`]] }] };
  }
  return {
    clause: ` PARTITION BY RANGE (${quoted(time.name)})`,
    more: ranges.map((range) => {
      const child = { ...name, table: partitionName(name, range, 1) };
      const text = `CREATE TABLE IF NOT EXISTS ${path(child)} PARTITION OF ${path(name)} ${boundsText(range, time)}`;
      return plain(name, text);
    }),
  };
}

// The first two attempts meet a process that makes the same partition; then something else has the name.
const OWN_ATTEMPTS = 2;

/** A name with the reserved prefix, so that no sender can choose it for a table. */
export function partitionName({ table }: TableName, { from, to }: TimeRange, attempt: number): string {
  const part = from === undefined ? "_early" : to === undefined ? "_late" : `_p${from.replaceAll(/\D/g, "_")}`;
  const suffix = attempt > OWN_ATTEMPTS ? `${part}_${attempt}` : part;
  return `deneb_${shorten(table, nameLimits.postgresql.length - "deneb_".length - suffix.length)}${suffix}`;
}

/** The statement for an index. */
export function indexText(name: TableName, index: TableIndex, create: string): string {
  const columns = index.columns.map((column) => quoted(column.name)).join(", ");
  return `${create} IF NOT EXISTS ${quoted(index.name)} ON ${path(name)} (${columns})`;
}

/** A block of PL/pgSQL as a literal: no name can end it. Its transaction finds the functions of the server only. */
export function block(body: string): string {
  return `DO ${literal(`BEGIN PERFORM pg_catalog.set_config('search_path', '${OF_THE_SERVER}', true); ${body} END`)}`;
}

/** The bounds of a partition. */
export function boundsText({ from, to }: TimeRange, time: Column): string {
  return `FOR VALUES FROM (${bound(from, time, "MINVALUE")}) TO (${bound(to, time, "MAXVALUE")})`;
}

/** A midnight in UTC as a literal of the type of the column; DDL has no parameters. */
export function boundText(date: string, { kind }: Column): string {
  return literal(kind === "time" ? `${date}${date.includes(":") ? "" : " 00:00:00"}+00` : date);
}

/** A literal of a text. */
export function literal(text: string): string {
  const doubled = text.replaceAll("'", "''");
  return text.includes("\\") ? `E'${doubled.replaceAll("\\", "\\\\")}'` : `'${doubled}'`;
}

function bound(date: string | undefined, time: Column, unbounded: string): string {
  return date === undefined ? unbounded : boundText(date, time);
}
