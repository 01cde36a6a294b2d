import type { HeaderFields } from "./headers.js";

/** The headers that a notification is read with. */
const names = ["content-type", "ngsild-attribute-format", "ngsiv2-attrsformat", "ngsild-tenant"] as const;

/** Those of the headers that a notification is read with. */
export function readHeadersOf(headers: HeaderFields): HeaderFields {
  return Object.fromEntries(names.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
}

/** Whether notifications with these headers are read alike. Each is named: this runs for each notification. */
export function areReadAlike(one: HeaderFields, other: HeaderFields): boolean {
  return (
    one["content-type"] === other["content-type"] &&
    one["ngsild-attribute-format"] === other["ngsild-attribute-format"] &&
    one["ngsiv2-attrsformat"] === other["ngsiv2-attrsformat"] &&
    one["ngsild-tenant"] === other["ngsild-tenant"]
  );
}
