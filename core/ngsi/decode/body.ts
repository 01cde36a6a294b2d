import { AgentError } from "../../sdk/index.js";
import { type AttrsFormat, attrsFormatOf, type HeaderFields } from "../headers.js";
import type { Entity, Notification } from "../model.js";
import { isArray, isObject, type Json, type JsonObject, toValue } from "../values/json.js";
import { isGeometry, typePrefix, valueMembers } from "./ld-attribute.js";

/** The error of a JSON body that is no notification of that API. */
export function notANotification(api: "LD" | "v2" | "v1", reason: string): AgentError {
  return new AgentError("NOT_A_NOTIFICATION", `reading the body as an ${nameOf(api)} notification: ${reason}`, {
    retryable: false,
  });
}

/** The error of a notification of another API. */
export function ofOtherApi(api: "LD" | "v2" | "v1", other: "LD" | "v2" | "v1"): AgentError {
  const remedy = `set ngsi_version of the handler to auto, or to ${other.toLowerCase()}`;
  return notANotification(api, `it is an ${nameOf(other)} notification; ${remedy}`);
}

function nameOf(api: "LD" | "v2" | "v1"): string {
  return api === "LD" ? "NGSI-LD" : `NGSI ${api}`;
}

/** Whether the value can be a name: a text with at least one character. */
export function isName(json: Json | undefined): json is string {
  return typeof json === "string" && json !== "";
}

/** The value as an error shows it: short, only a text in quotes, and never the inside of an object or list. */
export function shown(json: Json | undefined): string {
  if (json === undefined) return "missing";
  if (isArray(json)) return "a list";
  if (isObject(json)) return "an object";
  const { kind, text } = toValue(json);
  const short = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;
  if (kind === "string") return `"${short}"`;
  return kind === "number" ? `the number ${short}` : short;
}

const LONGEST_SHOWN = 40;

/** The notification of these entities, with the id of its subscription and its time where the body has them. */
export function withSubscription(
  { subscriptionId, notifiedAt }: JsonObject,
  entities: readonly Entity[],
): Notification {
  const notification: { subscriptionId?: string; notifiedAt?: string; entities: readonly Entity[] } = { entities };
  if (subscriptionId !== undefined && subscriptionId !== null) {
    notification.subscriptionId = toValue(subscriptionId).text;
  }
  if (typeof notifiedAt === "string") notification.notifiedAt = notifiedAt;
  return notification;
}

/** The type of an NGSI v2 or v1 attribute or metadata item, if it is a text. */
export function typeOf(type: Json | undefined): { readonly type?: string } {
  return typeof type === "string" ? { type } : {};
}

/**
 * The API of a notification, detected from its body: an envelope of type Notification, a JSON-LD context, GeoJSON or the
 * attributes of NGSI-LD make it NGSI-LD, contextResponses make it v1. Where the body may be of either, the headers
 * decide; those of NGSI v2 come last, because brokers send them with NGSI-LD bodies too. A tenant counts for less than
 * the metadata of NGSI v2.
 */
export function versionOf(root: Json, headers: HeaderFields): "ld" | "v2" | "v1" {
  if (!isObject(root)) return "ld";
  if (isBareEntity(root, attrsFormatOf(headers))) return "v2";
  if (saysLd(root)) return "ld";
  if (root.contextResponses !== undefined) return "v1";
  const entities = entitiesOf(root);
  if (entities.some(hasContext)) return "ld";
  if (headers["ngsild-attribute-format"] !== undefined || hasLdContent(headers)) return "ld";
  // Orion-LD sends the tenant with the formats of NGSI v2, too.
  if (headers["ngsild-tenant"] !== undefined && !entities.some(hasMetadata)) return "ld";
  if (headers[v2Header] !== undefined) return "v2";
  return entities.some(hasLdAttribute) ? "ld" : "v2";
}

/** Throws code `NOT_A_NOTIFICATION` for a body that is certainly of NGSI v2; one that may be of either passes. */
export function refuseV2(root: Json, headers: HeaderFields): void {
  if (!isObject(root) || versionOf(root, headers) !== "v2") return;
  if (headers[v2Header] === undefined && !isOrionId(root.subscriptionId) && !entitiesOf(root).some(hasV2Attribute)) {
    return;
  }
  throw ofOtherApi("LD", "v2");
}

/** Throws code `NOT_A_NOTIFICATION` for a body that is certainly of NGSI-LD; one that may be of either passes. */
export function refuseLd(root: Json, headers: HeaderFields): void {
  if (!isObject(root) || isBareEntity(root, attrsFormatOf(headers))) return;
  const entities = entitiesOf(root);
  const mayBeV2 = headers[v2Header] !== undefined || !entities.some(hasOnlyLdAttribute);
  if (!saysLd(root) && !entities.some(hasContext) && mayBeV2) return;
  throw ofOtherApi("v2", "LD");
}

/** Throws code `NOT_A_NOTIFICATION` for a body of NGSI-LD or NGSI v2, which has entities where NGSI v1 has responses. */
export function refuseLdAndV2(root: Json, headers: HeaderFields): void {
  if (!isObject(root) || root.contextResponses !== undefined || root.data === undefined) return;
  throw ofOtherApi("v1", versionOf(root, headers) === "ld" ? "LD" : "v2");
}

/** Whether the body is the entity itself, as the format announces. It may have an attribute named like a member of an envelope. */
export function isBareEntity({ id, type, "@context": context }: JsonObject, format: AttrsFormat | undefined): boolean {
  if (format !== "simplifiedNormalized" && format !== "simplifiedKeyValues") return false;
  return isName(id) && context === undefined && (type === undefined || !notificationTypes.has(type));
}

const notificationTypes: ReadonlySet<Json> = new Set(["Notification", `${typePrefix}Notification`]);
const v2Header = "ngsiv2-attrsformat";

function entitiesOf(root: JsonObject): readonly JsonObject[] {
  return isArray(root.data) ? root.data.filter(isObject) : [root];
}

function saysLd({ type, data, "@context": context }: JsonObject): boolean {
  if (context !== undefined) return true;
  return data === undefined ? false : isObject(data) || (type !== undefined && notificationTypes.has(type));
}

function hasContext(entity: JsonObject): boolean {
  return entity["@context"] !== undefined;
}

function hasLdContent({ "content-type": contentType = "" }: HeaderFields): boolean {
  return /^\s*application\/(?:ld|geo)\+json/i.test(contentType);
}

/** Subscriptions of NGSI-LD have URIs as ids. */
function isOrionId(id: Json | undefined): boolean {
  return typeof id === "string" && /^[0-9a-f]{24}$/.test(id);
}

function hasLdAttribute(entity: JsonObject): boolean {
  return Object.values(entity).some(isLdAttribute);
}

function isLdAttribute(json: Json): json is JsonObject {
  return isObject(json) && typeof json.type === "string" && valueMembers.has(json.type) && json.metadata === undefined;
}

/** Whether an attribute has members that NGSI v2 has not. */
function hasOnlyLdAttribute(entity: JsonObject): boolean {
  return Object.values(entity).some((json) => isLdAttribute(json) && !hasV2NamesOnly(json));
}

/** Whether an attribute is one of NGSI v2 with metadata, whatever its type. */
function hasMetadata(entity: JsonObject): boolean {
  return Object.values(entity).some((json) => isObject(json) && isObject(json.metadata) && hasV2NamesOnly(json));
}

function hasV2Attribute(entity: JsonObject): boolean {
  return Object.values(entity).some(isV2Attribute);
}

function isV2Attribute(json: Json): boolean {
  if (!isObject(json) || typeof json.type !== "string" || json.value === undefined) return false;
  return hasV2NamesOnly(json) && !valueMembers.has(json.type) && !isGeometry(json);
}

function hasV2NamesOnly(json: JsonObject): boolean {
  return Object.keys(json).every((name) => v2Names.has(name));
}

const v2Names: ReadonlySet<string> = new Set(["type", "value", "metadata"]);
