import { isUtf8 } from "node:buffer";

/** Names of the headers of an NGSI event. All values are text. @stable */
export const eventHeaders = {
  /** Tenant of the notification. */
  service: "fiware-service",
  /** Service path of the entity; `/` where the API has none (NGSI-LD). */
  servicePath: "fiware-servicepath",
  /** Id that joins the log lines of one update across systems. */
  correlator: "fiware-correlator",
  /** Id that this agent gave to the request. */
  transactionId: "transaction-id",
  /** Reception time, milliseconds since 1970 UTC. */
  timestamp: "timestamp",
  /** A number that is higher for each later event, also of the same notification. */
  sequence: "sequence",
  /** Id of the subscription, when the notification named one. */
  subscriptionId: "subscription-id",
  /** `notifiedAt` of the notification as sent; NGSI v2 and v1 have none. */
  notifiedAt: "notified-at",
  /** Address of the JSON-LD context, when the notification named one in a Link header. */
  link: "link",
  /** Service and service path after the name mappings; there when an event went through them. */
  mappedService: "mapped-fiware-service",
  mappedServicePath: "mapped-fiware-servicepath",
} as const;

/** Header fields of a request, names in lower case; values as node gives them, one character per byte. @stable */
export type HeaderFields = Readonly<Record<string, string>>;

/**
 * How the attributes of NGSI-LD are said to be written. A hint only: brokers are known to send the wrong one.
 * `keyValues` is the simplified form where the configuration says so; its texts are stored without quotes.
 */
export type AttributeFormat = "normalized" | "concise" | "simplified" | "keyValues";

/** The formats that the configuration can state for brokers that send no header with it. @stable */
export const statedFormats = ["auto", "normalized", "keyValues"] as const;

/** One of {@link statedFormats}. @stable */
export type StatedFormat = (typeof statedFormats)[number];

/** The tenant: `fiware-service`, else `ngsild-tenant`, else the default. An empty field counts as absent. @stable */
export function serviceOf(headers: HeaderFields, defaultService: string): string {
  return fieldOf(headers["fiware-service"]) ?? fieldOf(headers["ngsild-tenant"]) ?? defaultService;
}

/**
 * The service paths of an NGSI v2 or v1 notification, one for all entities or one for each, as sent: separated by
 * commas, not trimmed. The default when the field is absent or empty.
 * @stable
 */
export function servicePathsOf(headers: HeaderFields, defaultPath: string): readonly string[] {
  const field = fieldOf(headers[eventHeaders.servicePath]);
  // Most name one, and looking for a comma is much faster than splitting.
  return field?.includes(",") === true ? field.split(",") : [field ?? defaultPath];
}

/** The address in the `Link` header: what stands between `<` and `>` before the first `;`. @stable */
export function linkOf(headers: HeaderFields): string | undefined {
  if (headers.link === undefined) return undefined;
  const [target = ""] = headers.link.split(";", 1);
  // By hand: a regular expression takes quadratic time on many "<" without ">".
  for (let open = target.indexOf("<"); open !== -1; ) {
    const close = target.indexOf(">", open + 1);
    if (close === -1) return undefined;
    if (close > open + 1) return target.slice(open + 1, close);
    open = target.indexOf("<", close + 1);
  }
  return undefined;
}

/** The correlator of the broker, or the fallback when it sent none. @stable */
export function correlatorOf(headers: HeaderFields, fallback: string): string {
  return fieldOf(headers[eventHeaders.correlator]) ?? fallback;
}

/** How the attributes of an NGSI-LD notification are written: as a header says, else as is stated. */
export function ldFormatOf(headers: HeaderFields, stated: StatedFormat = "auto"): AttributeFormat | undefined {
  const sent = sentLdFormat(headers);
  if (stated === "auto") return sent;
  return sent === undefined || (sent === "simplified" && stated === "keyValues") ? stated : sent;
}

/** Of the NGSI v2 header only the simplified forms count: some brokers send `normalized` there with any NGSI-LD body. */
function sentLdFormat(headers: HeaderFields): AttributeFormat | undefined {
  const format = headers["ngsild-attribute-format"];
  if (format !== undefined) return formatNames.get(format.trim().toLowerCase());
  return /^\s*(?:keyvalues|simplified)/i.test(headers["ngsiv2-attrsformat"] ?? "") ? "simplified" : undefined;
}

/** How an NGSI v2 broker says it wrote the notification: the `simplified` forms are a bare entity without envelope. */
export type AttrsFormat = "normalized" | "keyValues" | "values" | "simplifiedNormalized" | "simplifiedKeyValues";

/**
 * How an NGSI v2 notification is written: as the header says, else as is stated; undefined for a custom format and where
 * nothing says it.
 */
export function attrsFormatOf(headers: HeaderFields, stated: StatedFormat = "auto"): AttrsFormat | undefined {
  const sent = attrsFormats.get((headers["ngsiv2-attrsformat"] ?? "").trim().toLowerCase());
  return sent ?? (stated === "auto" ? undefined : stated);
}

const attrsFormats: ReadonlyMap<string, AttrsFormat> = new Map(
  (["normalized", "keyValues", "values", "simplifiedNormalized", "simplifiedKeyValues"] as const).map((format) => [
    format.toLowerCase(),
    format,
  ]),
);

const formatNames: ReadonlyMap<string, AttributeFormat> = new Map([
  ["normalized", "normalized"],
  ["concise", "concise"],
  ["simplified", "simplified"],
  ["keyvalues", "simplified"],
]);

/** The headers that a notification is read with. */
const readWith = ["content-type", "ngsild-attribute-format", "ngsiv2-attrsformat", "ngsild-tenant"] as const;

/** Those of the headers that a notification is read with. */
export function readHeadersOf(headers: HeaderFields): HeaderFields {
  return Object.fromEntries(readWith.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]]])));
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

function fieldOf(field: string | undefined): string | undefined {
  return field === undefined || field === "" ? undefined : decoded(field);
}

// Node reads header bytes as Latin-1; clients write UTF-8. Text with characters beyond Latin-1 was decoded already.
function decoded(field: string): string {
  if (!/[\u0080-\u00ff]/.test(field) || /[\u0100-\uffff]/.test(field)) return field;
  const bytes = Buffer.from(field, "latin1");
  return isUtf8(bytes) ? bytes.toString("utf8") : field;
}
