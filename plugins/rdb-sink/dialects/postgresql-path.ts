import type { TableName } from "../table-name.js";
import { quoted } from "./dialect.js";

/** The quoted name of a table with its schema. */
export function postgresqlPath({ schema, table }: TableName): string {
  return `${quoted(schema)}.${quoted(table)}`;
}
