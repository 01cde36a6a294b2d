import type { AttrsFormat } from "../headers.js";
import type { Attribute, Entity, Member, Notification } from "../model.js";
import { isArray, isObject, type Json, type JsonObject, toValue } from "../values/json.js";
import { isBareEntity, isName, notANotification, ofOtherApi, shown, withSubscription } from "./body.js";

/**
 * Reads the body of an NGSI v2 notification: normalized and keyValues, and the bare entity that the formats
 * `simplifiedNormalized` and `simplifiedKeyValues` announce. The format also decides whether an object is a value or an
 * attribute where it can be either; see {@link decodeV2Attribute}. Numbers keep the digits that were sent.
 * Throws code `NOT_A_NOTIFICATION` for any other JSON, such as the format `values`, which has no ids.
 */
export function decodeV2(root: Json, format?: AttrsFormat): Notification {
  if (!isObject(root)) throw notANotification("v2", `the body is ${shown(root)}, not a JSON object`);
  const elements = elementsOf(root, format);
  if (format === "values" || elements.some(isArray)) throw notANotification("v2", WITHOUT_IDS);
  const entities = elements.map((element, index) => decodeEntity(element, `data[${index}]`, format));
  return isBareEntity(root, format) ? { entities } : withSubscription(root, entities);
}

const WITHOUT_IDS =
  "its format is values, which has no entity ids; set attrsFormat of the subscription to normalized or keyValues";

function elementsOf(root: JsonObject, format: AttrsFormat | undefined): readonly Json[] {
  if (isBareEntity(root, format)) return [root];
  const { data } = root;
  if (isArray(data)) return data;
  if (data !== undefined) throw notANotification("v2", `"data" is ${shown(data)}, not a list of entities`);
  if (root.contextResponses !== undefined) throw ofOtherApi("v2", "v1");
  if (format === "simplifiedNormalized" || format === "simplifiedKeyValues") return [root];
  throw notANotification("v2", 'it has no "data"');
}

function decodeEntity(element: Json, place: string, format: AttrsFormat | undefined): Entity {
  if (!isObject(element)) throw notANotification("v2", `${place} is ${shown(element)}, not an entity`);
  const { id, type = "" } = element;
  if (!isName(id)) {
    throw notANotification("v2", `"id" of ${place} is ${shown(id)}, not a text with at least one character`);
  }
  if (typeof type !== "string") throw notANotification("v2", `"type" of ${place} is ${shown(type)}, not a text`);
  return { id, type, api: "v2", attributes: attributesOf(element, format) };
}

function attributesOf(element: JsonObject, format: AttrsFormat | undefined): readonly Attribute[] {
  const attributes: Attribute[] = [];
  // JSON has own members only, and this makes no list of their names.
  for (const name in element) {
    if (name === "id" || name === "type") continue;
    attributes.push(decodeV2Attribute(name, element[name] ?? null, format));
  }
  return attributes;
}

/**
 * One attribute of an NGSI v2 entity. In the `keyValues` formats it is the value itself. Otherwise an object of nothing
 * but `type`, `value` and `metadata` is a normalized attribute in the `normalized` formats, and without a format
 * when it has a value and one of the other two.
 */
function decodeV2Attribute(name: string, json: Json, format: AttrsFormat | undefined): Attribute {
  if (!isObject(json) || !isNormalized(json, format)) {
    return { name, form: "normalized", value: toValue(json), members: none };
  }
  const { type, value = null, metadata } = json;
  const form = "normalized";
  return typeof type === "string"
    ? { name, type, form, value: toValue(value), members: membersOf(metadata) }
    : { name, form, value: toValue(value), members: membersOf(metadata) };
}

const none: readonly Member[] = [];

function isNormalized(json: JsonObject, format: AttrsFormat | undefined): boolean {
  if (format === "keyValues" || format === "simplifiedKeyValues") return false;
  const { type, value, metadata } = json;
  const isTyped = type === undefined || type === null || typeof type === "string";
  const isAnnotated = metadata === undefined || metadata === null || isObject(metadata);
  if (!isTyped || !isAnnotated) return false;
  let members = 0;
  for (const name in json) {
    if (name !== "type" && name !== "value" && name !== "metadata") return false;
    members += 1;
  }
  return format === "normalized" || format === "simplifiedNormalized"
    ? members > 0
    : value !== undefined && members > 1;
}

function membersOf(metadata: Json | undefined): readonly Member[] {
  if (!isObject(metadata)) return none;
  let members: Member[] | undefined;
  for (const name in metadata) {
    const member = decodeMember(name, metadata[name] ?? null);
    if (members === undefined) members = [member];
    else members.push(member);
  }
  return members ?? none;
}

function decodeMember(name: string, json: Json): Member {
  if (!isObject(json) || json.value === undefined) return { name, value: toValue(json) };
  const { type, value } = json;
  return typeof type === "string" ? { name, type, value: toValue(value) } : { name, value: toValue(value) };
}
