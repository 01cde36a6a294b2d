import type { Attribute, Entity, Member, Notification } from "../model.js";
import { isArray, isObject, type Json, type JsonObject, toValue } from "../values/json.js";
import { isName, notANotification, shown, typeOf, withSubscription } from "./body.js";

/**
 * Reads the body of an NGSI v1 notification. A response that holds a status code and no entity is left out; otherwise
 * status codes do not count. Numbers keep the digits that were sent.
 * Throws code `NOT_A_NOTIFICATION` for any other JSON.
 */
export function decodeV1(root: Json): Notification {
  if (!isObject(root)) throw notANotification("v1", `the body is ${shown(root)}, not a JSON object`);
  const { contextResponses } = root;
  if (!isArray(contextResponses)) {
    throw notANotification("v1", `"contextResponses" is ${shown(contextResponses)}, not a list`);
  }
  const entities = contextResponses.flatMap((response, index) =>
    decodeResponse(response, `contextResponses[${index}]`),
  );
  return withSubscription(root, entities);
}

function decodeResponse(response: Json, place: string): readonly Entity[] {
  if (!isObject(response)) throw notANotification("v1", `${place} is ${shown(response)}, not an object`);
  const { contextElement, statusCode } = response;
  if (contextElement === undefined && statusCode !== undefined) return [];
  if (isObject(contextElement)) return [decodeEntity(contextElement, place)];
  throw notANotification("v1", `"contextElement" of ${place} is ${shown(contextElement)}, not an entity`);
}

/** The entity id is in the element itself, or in a member of its own, as the NGSI-10 of OMA has it. */
function decodeEntity(element: JsonObject, place: string): Entity {
  const { id, type = "" } = isObject(element.entityId) ? element.entityId : element;
  if (!isName(id)) {
    throw notANotification("v1", `"id" of ${place} is ${shown(id)}, not a text with at least one character`);
  }
  if (typeof type !== "string") throw notANotification("v1", `"type" of ${place} is ${shown(type)}, not a text`);
  const decoded = listOf(element.attributes, `"attributes" of ${place}`).map((attribute) =>
    decodeAttribute(attribute, place),
  );
  return { id, type, api: "v2", attributes: decoded };
}

function decodeAttribute(attribute: Json, place: string): Attribute {
  const { name, type, value, metadatas } = named(attribute, `an attribute of ${place}`);
  const members = listOf(metadatas, `"metadatas" of attribute "${name}" of ${place}`).map((metadata) =>
    decodeMember(metadata, `a metadata item of attribute "${name}" of ${place}`),
  );
  return { name, ...typeOf(type), form: "normalized", value: toValue(value ?? null), members };
}

function decodeMember(metadata: Json, what: string): Member {
  const { name, type, value } = named(metadata, what);
  return { name, ...typeOf(type), value: toValue(value ?? null) };
}

function named(json: Json, what: string): JsonObject & { readonly name: string } {
  if (!isObject(json)) throw notANotification("v1", `${what} is ${shown(json)}, not an object`);
  const { name } = json;
  if (isName(name)) return { ...json, name };
  throw notANotification("v1", `"name" of ${what} is ${shown(name)}, not a text with at least one character`);
}

function listOf(json: Json | undefined, what: string): readonly Json[] {
  if (isArray(json)) return json;
  if (json === undefined || json === null) return [];
  throw notANotification("v1", `${what} is ${shown(json)}, not a list`);
}
