import { createHash } from "node:crypto";
import type { SqlConfig } from "./schema.js";

/**
 * A short text that is the same for configurations which make the same rows in the same places: all properties but those
 * of the way to the server.
 */
export function placementRules(config: SqlConfig): string {
  const own = Object.entries(config).filter(([name]) => !name.startsWith("rdb_") && !elsewhere.has(name));
  const text = JSON.stringify(own.sort(([one], [other]) => (one < other ? -1 : 1)));
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** These decide what is stored or deleted, never where. */
const elsewhere: ReadonlySet<string> = new Set([
  "allowed_services",
  "protected_schemas",
  "persistence_policy.adopted_schemas",
]);
