import type { AttrsFormat } from "./headers.js";
import { isArray, isObject, type Json, type JsonObject, parseJson } from "./json.js";
import type { Entity, Notification } from "./model.js";
import { isName, notANotification, shown } from "./not-a-notification.js";
import { withSubscription } from "./subscription.js";
import { decodeV2Attribute } from "./v2-attribute.js";

/**
 * Reads the body of an NGSI v2 notification: normalized and keyValues, and the bare entity that the
 * formats `simplifiedNormalized` and `simplifiedKeyValues` announce. The format also decides what an object is that may
 * be a value or an attribute; see {@link decodeV2Attribute}. Numbers keep the digits that were sent.
 * Throws code `MALFORMED_JSON` when the text is no JSON, `NOT_A_NOTIFICATION` when the JSON is something else, such as
 * the format `values`, which tells no ids.
 */
export function decodeV2(text: string, format?: AttrsFormat): Notification {
  return readV2(parseJson(text, "sent"), format);
}

/** {@link decodeV2} of a text that was parsed already. */
export function readV2(root: Json, format?: AttrsFormat): Notification {
  if (!isObject(root)) throw notANotification("v2", `the body is ${shown(root)}, not a JSON object`);
  const elements = elementsOf(root, format);
  if (format === "values" || elements.some(isArray)) throw notANotification("v2", WITHOUT_IDS);
  const entities = elements.map((element, index) => decodeEntity(element, `data[${index}]`, format));
  return withSubscription(root, entities);
}

const WITHOUT_IDS =
  "its format is values, which tells no entity ids; set attrsFormat of the subscription to normalized or keyValues";

function elementsOf(root: JsonObject, format: AttrsFormat | undefined): readonly Json[] {
  const { data } = root;
  if (isArray(data)) return data;
  if (data !== undefined) throw notANotification("v2", `"data" is ${shown(data)}, not a list of entities`);
  if (root.contextResponses !== undefined) {
    throw notANotification("v2", 'it has "contextResponses", so it is an NGSI v1 body: set ngsi_version accordingly');
  }
  if (format === "simplifiedNormalized" || format === "simplifiedKeyValues") return [root];
  throw notANotification("v2", 'it has no "data"');
}

function decodeEntity(element: Json, place: string, format: AttrsFormat | undefined): Entity {
  if (!isObject(element)) throw notANotification("v2", `${place} is ${shown(element)}, not an entity`);
  const { id, type = "", ...attributes } = element;
  if (!isName(id)) {
    throw notANotification("v2", `"id" of ${place} is ${shown(id)}, not a text with at least one character`);
  }
  if (typeof type !== "string") throw notANotification("v2", `"type" of ${place} is ${shown(type)}, not a text`);
  return {
    id,
    type,
    api: "v2",
    attributes: Object.entries(attributes).map(([name, json]) => decodeV2Attribute(name, json, format)),
  };
}
