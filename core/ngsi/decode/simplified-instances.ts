import { isObject, type Json } from "../values/json.js";

/** Stands for the datasetId of the instance that has none. */
export const DEFAULT_INSTANCE = "@none";
const URI = /^[a-z][a-z0-9+.-]*:\S+$/i;

/**
 * The instances of a simplified attribute, `{"dataset": {"@none": 1, "urn:gps": 2}}`: datasetId and value, the default one
 * first, or without it the one whose datasetId comes first in the alphabet. None for any other value.
 */
export function simplifiedInstances(json: Json): readonly (readonly [string, Json])[] {
  if (!isObject(json) || !isObject(json.dataset) || Object.keys(json).length !== 1) return [];
  const instances = Object.entries(json.dataset);
  if (!instances.every(([id]) => id === DEFAULT_INSTANCE || URI.test(id))) return [];
  const rank = (id: string) => (id === DEFAULT_INSTANCE ? "" : id);
  const [first, ...rest] = instances;
  if (first === undefined) return [];
  const chosen = rest.reduce((best, one) => (rank(one[0]) < rank(best[0]) ? one : best), first);
  return [chosen, ...instances.filter((one) => one !== chosen)];
}
