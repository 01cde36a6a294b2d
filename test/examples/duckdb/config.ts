import type { ConfigOf, Schema } from "deneb/sdk";
import { sqlSchema } from "deneb/sql";

export const duckdbSchema = {
  ...sqlSchema,
  file: { doc: "File of the database, made where it is missing. Its folder must exist.", format: "text" },
} as const satisfies Schema;

export type DuckdbConfig = ConfigOf<typeof duckdbSchema>;
