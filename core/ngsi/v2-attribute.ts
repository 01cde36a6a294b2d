import type { AttrsFormat } from "./headers.js";
import { isObject, type Json, type JsonObject, toValue } from "./json.js";
import type { Attribute, Member } from "./model.js";

/**
 * One attribute of an NGSI v2 entity. In the `keyValues` formats it is the value itself. Otherwise an object of nothing
 * but `type`, `value` and `metadata` is a normalized attribute in the `normalized` formats, and without a format
 * when it has a value and one of the other two.
 */
export function decodeV2Attribute(name: string, json: Json, format: AttrsFormat | undefined): Attribute {
  if (!isObject(json) || !isNormalized(json, format)) {
    return { name, form: "normalized", value: toValue(json), members: [] };
  }
  const { type, value = null, metadata } = json;
  return { name, ...typeOf(type), form: "normalized", value: toValue(value), members: membersOf(metadata) };
}

/** The type where there is one. */
export function typeOf(type: Json | undefined): { readonly type?: string } {
  return typeof type === "string" ? { type } : {};
}

const ownNames: ReadonlySet<string> = new Set(["type", "value", "metadata"]);

function isNormalized(json: JsonObject, format: AttrsFormat | undefined): boolean {
  if (format === "keyValues" || format === "simplifiedKeyValues") return false;
  const { type, value, metadata } = json;
  const names = Object.keys(json);
  const isTyped = type === undefined || type === null || typeof type === "string";
  const isAnnotated = metadata === undefined || metadata === null || isObject(metadata);
  if (!isTyped || !isAnnotated || !names.every((name) => ownNames.has(name))) return false;
  return format === "normalized" || format === "simplifiedNormalized"
    ? names.length > 0
    : value !== undefined && names.length > 1;
}

function membersOf(metadata: Json | undefined): readonly Member[] {
  return isObject(metadata) ? Object.entries(metadata).map(([name, json]) => decodeMember(name, json)) : [];
}

function decodeMember(name: string, json: Json): Member {
  if (!isObject(json) || json.value === undefined) return { name, value: toValue(json) };
  return { name, ...typeOf(json.type), value: toValue(json.value) };
}
