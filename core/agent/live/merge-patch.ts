import { isDeepStrictEqual } from "node:util";

/** What JSON can hold; a member that is undefined is absent. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/**
 * The JSON merge patch (RFC 7396) that makes the second document of the first: only the members that differ, `null` for one
 * that is gone, lists as a whole. Undefined when nothing differs.
 */
export function mergePatch(before: JsonObject, after: JsonObject): JsonObject | undefined {
  const patch: Record<string, Json> = {};
  let differs = false;
  for (const name of Object.keys(after)) {
    const difference = memberPatch(before[name], after[name]);
    if (difference === undefined) continue;
    patch[name] = difference;
    differs = true;
  }
  for (const name of Object.keys(before)) {
    if (before[name] === undefined || after[name] !== undefined) continue;
    patch[name] = null;
    differs = true;
  }
  return differs ? patch : undefined;
}

function memberPatch(before: Json | undefined, after: Json | undefined): Json | undefined {
  if (before === after || after === undefined) return undefined;
  if (isObject(before) && isObject(after)) return mergePatch(before, after);
  if (typeof after === "object" && isDeepStrictEqual(before, after)) return undefined;
  return after;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
