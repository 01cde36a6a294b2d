import { isDeepStrictEqual } from "node:util";
import type { AttributeFormat } from "../headers.js";
import type { Attribute, Entity, Notification } from "../model.js";
import { isArray, isObject, type Json, type JsonObject } from "../values/json.js";
import { isName, notANotification, ofOtherApi, shown, withSubscription } from "./body.js";
import { decodeLdAttribute } from "./ld-attribute.js";

/**
 * Reads the body of an NGSI-LD notification: normalized, concise, simplified and GeoJSON, in any mixture. `data` may
 * hold no entity, and the same one several times. The format is a hint, see {@link decodeLdAttribute}.
 * Throws code `NOT_A_NOTIFICATION` for any other JSON.
 */
export function decodeLd(root: Json, format?: AttributeFormat): Notification {
  if (!isObject(root)) throw notANotification("LD", `the body is ${shown(root)}, not a JSON object`);
  const entities = elementsOf(root).map((element, index) => decodeEntity(element, `data[${index}]`, format));
  return withSubscription(root, entities);
}

function elementsOf(root: JsonObject): readonly Json[] {
  const { data } = root;
  if (isArray(data)) return data;
  if (isObject(data)) return data.type === "FeatureCollection" && isArray(data.features) ? data.features : [data];
  if (data !== undefined) throw notANotification("LD", `"data" is ${shown(data)}, not a list of entities`);
  if (root.contextResponses === undefined) throw notANotification("LD", 'it has no "data"');
  throw ofOtherApi("LD", "v1");
}

function decodeEntity(element: Json, place: string, format: AttributeFormat | undefined): Entity {
  if (!isObject(element)) throw notANotification("LD", `${place} is ${shown(element)}, not an entity`);
  const entity = isFeature(element) ? entityOfFeature(element) : element;
  return { id: idOf(entity, place), type: typeOf(entity, place), attributes: attributesOf(entity, format) };
}

function idOf({ id }: JsonObject, place: string): string {
  if (isName(id)) return id;
  throw notANotification("LD", `"id" of ${place} is ${shown(id)}, not a text with at least one character`);
}

function typeOf({ type }: JsonObject, place: string): string {
  if (isName(type)) return type;
  if (isArray(type) && type.length > 0 && type.every(isName)) return `[${type.join(",")}]`;
  throw notANotification(
    "LD",
    `"type" of ${place} is ${shown(type)}, not a text with at least one character or a list of such`,
  );
}

function attributesOf(entity: JsonObject, format: AttributeFormat | undefined): readonly Attribute[] {
  const attributes: Attribute[] = [];
  // JSON has own members only, and this makes no list of their names.
  for (const name in entity) {
    if (name === "id" || name === "type" || name === "@context") continue;
    attributes.push(decodeLdAttribute(name, entity[name] ?? null, format));
  }
  return attributes;
}

/** Whether the value is an entity written as a GeoJSON feature: attributes in `properties`, beside the `geometry`. */
function isFeature(json: JsonObject): boolean {
  return json.type === "Feature" && isObject(json.properties) && json.geometry !== undefined;
}

/**
 * A GeoJSON feature as the entity it stands for. Its geometry repeats one of the attributes; when it does not, it
 * becomes the attribute `geometry`.
 */
function entityOfFeature(feature: JsonObject): JsonObject {
  const { id, geometry, properties } = feature;
  const attributes = isObject(properties) ? properties : {};
  const isExtra = isObject(geometry) && !Object.values(attributes).some((attribute) => holds(attribute, geometry));
  return { ...(isExtra ? { geometry } : {}), ...attributes, ...(id === undefined ? {} : { id }) };
}

function holds(attribute: Json, geometry: JsonObject): boolean {
  if (isArray(attribute)) return attribute.some((instance) => holds(instance, geometry));
  if (!isObject(attribute)) return false;
  return isDeepStrictEqual(attribute, geometry) || isDeepStrictEqual(attribute.value, geometry);
}
