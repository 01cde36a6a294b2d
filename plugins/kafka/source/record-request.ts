import { isUtf8 } from "node:buffer";
import { eventHeaders } from "deneb/ngsi";
import type { FetchedRecord } from "../client/fetching.js";
import type { KafkaSourceConfig } from "./config.js";

export type Fields = Readonly<Record<string, string>>;

/** Longer ones are of other programs. */
const LONGEST_FIELD = 8192;

/** Fields that say whose the record is: what cannot be read there must not count as absent. */
const tenant: readonly string[] = [eventHeaders.service, eventHeaders.servicePath, "ngsild-tenant"];

/**
 * The headers of a record as HTTP would send them, names in lower case; of a repeated one the first. What no header of HTTP could hold
 * is of other programs and left out.
 */
export function fieldsOf({ headers }: Pick<FetchedRecord, "headers">): Fields {
  const fields = new Map<string, string>();
  for (const [name, value] of headers) {
    const key = nameOf(name);
    const text = textOf(value);
    if (key !== undefined && text !== undefined && !fields.has(key)) fields.set(key, text);
  }
  return Object.fromEntries(fields);
}

/** The name of a header that says whose the record is and cannot be read; undefined for none. */
export function unreadableTenant({ headers }: Pick<FetchedRecord, "headers">): string | undefined {
  return headers
    .filter(([, value]) => value !== null && textOf(value) === undefined)
    .map(([name]) => nameOf(name))
    .find((name) => name !== undefined && tenant.includes(name));
}

/** With what is configured for records that do not name it themselves. */
export function withDefaults(fields: Fields, { service, service_path, content_type }: KafkaSourceConfig): Fields {
  const isNamed = ["ngsild-tenant", eventHeaders.service].some((name) => (fields[name] ?? "") !== "");
  const hasPath = (fields[eventHeaders.servicePath] ?? "") !== "";
  return {
    "content-type": content_type,
    ...fields,
    ...(isNamed || service === "" ? {} : { [eventHeaders.service]: service }),
    ...(hasPath || service_path === "" ? {} : { [eventHeaders.servicePath]: service_path }),
  };
}

function nameOf(bytes: Buffer | null): string | undefined {
  const name = bytes?.toString("latin1").toLowerCase() ?? "";
  return /^[\w!#$%&'*+.^`|~-]{1,256}$/.test(name) ? name : undefined;
}

function textOf(bytes: Buffer | null): string | undefined {
  if (bytes === null || bytes.length > LONGEST_FIELD || !isUtf8(bytes)) return undefined;
  const text = bytes.toString().trim();
  return [...text].some(isControl) ? undefined : text;
}

function isControl(character: string): boolean {
  return (character < " " && character !== "\t") || character === "\u007f";
}
