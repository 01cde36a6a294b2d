import type { Member } from "./model.js";

/**
 * The metadata of an NGSI v2 or v1 attribute as stores keep it: a JSON array of `{"name","type","value"}`, `[]` when
 * there is none. A plain value is written as a text (`0.8` as `"0.8"`, null as `"null"`), a structured one as it is.
 */
export function metadataText(members: readonly Member[]): string {
  return `[${members.map(itemText).join(",")}]`;
}

function itemText({ name, type = "", value: { kind, text } }: Member): string {
  const value = kind === "object" || kind === "array" ? text : JSON.stringify(text);
  return `{"name":${JSON.stringify(name)},"type":${JSON.stringify(type)},"value":${value}}`;
}
