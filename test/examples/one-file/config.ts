import type { ConfigOf, Schema } from "deneb/sdk";
import { sqlSchema } from "deneb/sql";

export const oneFileSchema = {
  ...sqlSchema,
  file: { doc: "File of the database. Its folder must exist.", format: "text" },
} as const satisfies Schema;

export type OneFileConfig = ConfigOf<typeof oneFileSchema>;
