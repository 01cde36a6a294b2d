import { valueMembers } from "./ld-vocabulary.js";
import type { Attribute, Entity, Member, Value } from "./model.js";

/**
 * The entity as JSON text, normalized in the API it came by: NGSI-LD, or NGSI v2 for v2 and v1. An attribute that came
 * as a mere value of NGSI-LD is written as that. Numbers keep their precise value.
 */
export function entityJson(entity: Entity): string {
  const write = entity.api === "v2" ? v2Attribute : ldAttribute;
  return entityText(entity, write);
}

/** The entity as JSON text with the bare value of each attribute (`keyValues`, `simplified`). */
export function entityValuesJson(entity: Entity): string {
  return entityText(entity, attributeJson);
}

/** The value of an attribute as JSON text. */
export function attributeJson({ value }: Attribute): string {
  return valueJson(value);
}

function entityText(entity: Entity, write: (attribute: Attribute) => string): string {
  const attributes = entity.attributes.map((attribute) => member(attribute.name, write(attribute)));
  return object([member("id", JSON.stringify(entity.id)), ...typeMembers(entity), ...attributes]);
}

function typeMembers({ type, api }: Entity): readonly string[] {
  if (type === "") return [];
  const types = api === "v2" ? undefined : /^\[(.+)\]$/.exec(type)?.[1]?.split(",");
  return [member("type", JSON.stringify(types ?? type))];
}

function ldAttribute({ form, type = "Property", value, members }: Attribute): string {
  return form === "simplified" ? valueJson(value) : object([...ldValue(type, value), ...members.map(ldMember)]);
}

/** A sub-attribute has a type, what NGSI-LD itself defines (unitCode, observedAt) is a plain member. */
function ldMember({ name, type, value }: Member): string {
  return member(name, type === undefined ? valueJson(value) : object(ldValue(type, value)));
}

function ldValue(type: string, value: Value): readonly string[] {
  return [member("type", JSON.stringify(type)), member(valueMembers.get(type) ?? "value", valueJson(value))];
}

function v2Attribute({ type, value, members }: Attribute): string {
  const metadata = members.map((item) => member(item.name, object(v2Value(item))));
  return object([...v2Value({ type, value }), member("metadata", object(metadata))]);
}

function v2Value({ type, value }: { readonly type?: string | undefined; readonly value: Value }): readonly string[] {
  const typed = type === undefined ? [] : [member("type", JSON.stringify(type))];
  return [...typed, member("value", valueJson(value))];
}

function valueJson({ kind, text }: Value): string {
  return kind === "string" ? JSON.stringify(text) : text;
}

function member(name: string, json: string): string {
  return `${JSON.stringify(name)}:${json}`;
}

function object(members: readonly string[]): string {
  return `{${members.join(",")}}`;
}
