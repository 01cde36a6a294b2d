import type { Json, JsonObject } from "../../agent/live/merge-patch.js";

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The JSON object of a text; empty for another text. */
export function objectOf(text: Buffer | string): JsonObject {
  try {
    const value: Json = JSON.parse(text.toString());
    return objectIn(value);
  } catch {
    return {};
  }
}

export function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

export function listIn(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list. */
export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return listIn(value).filter(isObject);
}

export function numberIn(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

export function textIn(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
