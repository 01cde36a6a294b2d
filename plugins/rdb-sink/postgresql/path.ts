import { quoted, type TableName } from "deneb/sql";

/** The quoted name of a table with its schema. */
export function postgresqlPath({ schema, table }: TableName): string {
  return `${quoted(schema)}.${quoted(table)}`;
}
