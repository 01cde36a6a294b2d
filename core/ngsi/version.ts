import type { HeaderFields } from "./headers.js";
import { isArray, isObject, type Json, type JsonObject } from "./json.js";
import { typePrefix, valueMembers } from "./ld-vocabulary.js";

/**
 * The API of a notification, told by its body: an envelope of type Notification, a JSON-LD context, GeoJSON or the
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
