import { isDeepStrictEqual } from "node:util";
import { isArray, isObject, type Json, type JsonObject } from "./json.js";

const geometryTypes: ReadonlySet<Json> = new Set([
  "Point",
  "MultiPoint",
  "LineString",
  "MultiLineString",
  "Polygon",
  "MultiPolygon",
  "GeometryCollection",
]);

/** Whether the value is a GeoJSON geometry. */
export function isGeometry(json: Json | undefined): boolean {
  if (!isObject(json) || json.type === undefined || !geometryTypes.has(json.type)) return false;
  return isArray(json.type === "GeometryCollection" ? json.geometries : json.coordinates);
}

/** Whether the value is an entity written as a GeoJSON feature: attributes in `properties`, beside the `geometry`. */
export function isFeature(json: JsonObject): boolean {
  return json.type === "Feature" && isObject(json.properties) && json.geometry !== undefined;
}

/**
 * A GeoJSON feature as the entity it stands for. Its geometry repeats one of the attributes; when it does not, it
 * becomes the attribute `geometry`.
 */
export function entityOfFeature(feature: JsonObject): JsonObject {
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
