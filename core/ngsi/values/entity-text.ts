import { AgentError } from "../../sdk/index.js";
import { DEFAULT_INSTANCE, valueMembers } from "../decode/ld-attribute.js";
import type { Attribute, Entity, Member, Value } from "../model.js";

/**
 * The entity as JSON text, normalized in the API it came by: NGSI-LD, or NGSI v2 for v2 and v1. An attribute that came
 * as a bare value of NGSI-LD is written as one. Numbers keep their precise value.
 * @stable
 */
export function entityJson(entity: Entity): string {
  const write = entity.api === "v2" ? v2Attribute : ldAttribute;
  return entityText(entity, write);
}

/** The entity as JSON text with the bare value of each attribute (`keyValues`, `simplified`). @stable */
export function entityValuesJson(entity: Entity): string {
  return entityText(entity, attributeJson);
}

/** The value of an attribute as JSON text; several instances are a list, each with its members. @stable */
export function attributeJson(attribute: Attribute): string {
  return attribute.others === undefined ? valueJson(attribute.value) : ldAttribute(attribute);
}

/** The other instances of an attribute as a JSON list, or undefined if it has only one. @stable */
export function othersJson({ others }: Attribute): string | undefined {
  return others === undefined ? undefined : listOf(others.map(ldInstance));
}

/** What a sub-attribute has besides type and value as a JSON object, or undefined if it has nothing more. @stable */
export function subMembersJson({ members }: Member): string | undefined {
  return members === undefined ? undefined : object(members.map(ldMember));
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

function ldAttribute(attribute: Attribute): string {
  const { others } = attribute;
  if (isBare(attribute) && (others !== undefined || datasetOf(attribute) !== undefined))
    return simplified([attribute, ...(others ?? [])]);
  return others === undefined ? ldInstance(attribute) : listOf([attribute, ...others].map(ldInstance));
}

/** Several instances that came as bare values by their datasetId. */
function simplified(instances: readonly Attribute[]): string {
  const texts = instances.map((one) => member(datasetOf(one) ?? DEFAULT_INSTANCE, valueJson(one.value)));
  return object([member("dataset", object(texts))]);
}

function datasetOf({ members }: Attribute): string | undefined {
  return members.find(({ name }) => name === "datasetId")?.value.text;
}

/** An attribute without a type came as a bare value. */
function isBare({ form, type }: Attribute): boolean {
  return form !== "normalized" || type === undefined;
}

function ldInstance(attribute: Attribute): string {
  const { type, value, members } = attribute;
  if (type !== undefined && !isBare(attribute)) return object([...ldValue(type, value), ...members.map(ldMember)]);
  return members.length === 0
    ? valueJson(value)
    : object([member("value", valueJson(value)), ...members.map(ldMember)]);
}

/** A sub-attribute has a type, what NGSI-LD itself defines (unitCode, observedAt) is a plain member. */
function ldMember({ name, type, value, members = [] }: Member): string {
  return member(
    name,
    type === undefined ? valueJson(value) : object([...ldValue(type, value), ...members.map(ldMember)]),
  );
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

function listOf(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}

/**
 * The text a store keeps for an attribute; undefined stands for SQL NULL. A string is plain in the normalized form and
 * JSON text, with its quotes, in the simplified form; likewise `null` is NULL in the one and the text `null` in the other.
 * A string of a `JsonProperty` is JSON text in both.
 * @stable
 */
export function attributeText(attribute: Attribute): string | undefined {
  const { form, value } = attribute;
  return form === "simplified" || isJsonString(attribute) ? valueJson(value) : plainText(value);
}

/**
 * The text a store keeps for a member of an NGSI-LD attribute; undefined stands for SQL NULL. A string is plain, that of
 * a `JsonProperty` JSON text.
 * @stable
 */
export function memberText(member: Member): string | undefined {
  return isJsonString(member) ? valueJson(member.value) : plainText(member.value);
}

/** The value that NGSI-LD gives an attribute, or a member, that was deleted. @beta */
export const DELETED_VALUE = "urn:ngsi-ld:null";

/** Whether the value is JSON that is a string: without quotes `"12"` and 12 would be stored alike. */
function isJsonString({ type, value }: Pick<Attribute, "type" | "value">): boolean {
  return type === "JsonProperty" && value.kind === "string" && value.text !== DELETED_VALUE;
}

/** A time as ISO 8601 text in UTC with three digits of milliseconds, for example `2020-05-13T14:46:21.918Z`. @stable */
export function isoTime(epochMillis: number): string {
  const time = new Date(epochMillis);
  if (Number.isNaN(time.getTime())) {
    throw new AgentError("INVALID_TIME", `writing "${epochMillis}" as a time: not milliseconds since 1970`, {
      retryable: false,
    });
  }
  return time.toISOString();
}

function plainText({ kind, text }: Value): string | undefined {
  return kind === "null" ? undefined : text;
}
