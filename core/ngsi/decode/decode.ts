import { attrsFormatOf, formatHintOf, type HeaderFields } from "../headers.js";
import { checkLimits, type NotificationLimits } from "../limits.js";
import type { Notification } from "../model.js";
import { holdsExactNumber } from "../values/exact-number.js";
import { isArray, isObject, type Json, type JsonObject, parseJson } from "../values/json.js";
import { decodeLd } from "./ld.js";
import { typePrefix, valueMembers } from "./ld-attribute.js";
import { decodeV1 } from "./v1.js";
import { decodeV2 } from "./v2.js";

/** The APIs a notification can come by; with `auto` its body decides. */
export const ngsiVersions = ["ld", "v2", "v1", "auto"] as const;

/** The name of an API, or `auto`. */
export type NgsiVersion = (typeof ngsiVersions)[number];

/**
 * Reads the body of a notification of that API. The headers say how attributes are written and, with `auto`, help to
 * tell the API of a body that may be of either. Throws what the decoders throw, and codes `LIMIT_EXCEEDED` and
 * `CONTENT_TOO_LARGE` for a notification that holds more than the limits allow.
 */
export function decode(
  version: NgsiVersion,
  text: string,
  headers: HeaderFields,
  limits?: NotificationLimits,
): Notification {
  const notification = decoders[version](text, headers, limits);
  if (limits !== undefined) checkLimits(notification, limits);
  return notification;
}

type Decoder = (text: string, headers: HeaderFields, limits: NotificationLimits | undefined) => Notification;

const decoders = {
  ld: (text, headers, limits) => decodeLd(parseJson(text, "precise", limits), formatHintOf(headers)),
  v2: (text, headers, limits) => decodeV2(parseJson(text, "sent", limits), attrsFormatOf(headers)),
  v1: (text, _headers, limits) => decodeV1(parseJson(text, "sent", limits)),
  auto: decodeAuto,
} satisfies Record<NgsiVersion, Decoder>;

function decodeAuto(text: string, headers: HeaderFields, limits: NotificationLimits | undefined): Notification {
  const root = parseJson(text, "precise", limits);
  const version = versionOf(root, headers);
  if (version === "ld") return decodeLd(root, formatHintOf(headers));
  const sent = holdsExactNumber(text, "sent") ? parseJson(text, "sent", limits) : root;
  return version === "v1" ? decodeV1(sent) : decodeV2(sent, attrsFormatOf(headers));
}

/**
 * The API of a notification, detected from its body: an envelope of type Notification, a JSON-LD context, GeoJSON or the
 * attributes of NGSI-LD make it NGSI-LD, contextResponses make it v1. Where the body may be of either, the headers
 * decide; those of NGSI v2 come last, because brokers send them with NGSI-LD bodies too.
 */
export function versionOf(root: Json, headers: HeaderFields): "ld" | "v2" | "v1" {
  if (!isObject(root) || saysLd(root)) return "ld";
  if (root.contextResponses !== undefined) return "v1";
  const entities = isArray(root.data) ? root.data.filter(isObject) : [root];
  if (entities.some((entity) => entity["@context"] !== undefined)) return "ld";
  if (ldHeaders.some((name) => headers[name] !== undefined) || hasLdContent(headers)) return "ld";
  if (headers["ngsiv2-attrsformat"] !== undefined) return "v2";
  return entities.some(hasLdAttribute) ? "ld" : "v2";
}

const notificationTypes: ReadonlySet<Json> = new Set(["Notification", `${typePrefix}Notification`]);
const ldHeaders = ["ngsild-attribute-format", "ngsild-tenant"] as const;

function saysLd({ type, data, "@context": context }: JsonObject): boolean {
  if (context !== undefined) return true;
  return data === undefined ? false : isObject(data) || (type !== undefined && notificationTypes.has(type));
}

function hasLdContent({ "content-type": contentType = "" }: HeaderFields): boolean {
  return /^\s*application\/(?:ld|geo)\+json/i.test(contentType);
}

function hasLdAttribute(entity: JsonObject): boolean {
  return Object.values(entity).some(
    (attribute) =>
      isObject(attribute) &&
      typeof attribute.type === "string" &&
      valueMembers.has(attribute.type) &&
      attribute.metadata === undefined,
  );
}
