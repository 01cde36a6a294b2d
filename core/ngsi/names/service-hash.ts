import { encodeName, nameLimits, withHash } from "./encoding.js";
import type { Naming } from "./naming.js";

/**
 * The name of a schema or database that was made of a service: itself when it is exactly the service, or the encoded
 * service; else with a hash of the service, so that no two services have the same one.
 * @stable
 */
export function withServiceHash(name: string, service: string, { database, encoding }: Naming): string {
  const plain = encoding ? encodeName(service, database === "mysql" ? "both cases" : "lower case") : service;
  return name === plain ? name : withHash(name, service, nameLimits[database]);
}
