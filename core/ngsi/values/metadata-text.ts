import type { Member } from "../model.js";

/**
 * The metadata of an NGSI v2 or v1 attribute as stores keep it: a JSON array of `{"name","type","value"}`, `[]` when
 * there is none. A plain value is written as a text (`0.8` as `"0.8"`, null as `"null"`), a structured one as JSON. What
 * a sub-attribute of NGSI-LD has besides is a list of the same kind, `"metadata"`.
 * @stable
 */
export function metadataText(members: readonly Member[]): string {
  if (members.length === 0) return "[]";
  // A loop by index: `map` and `join` make lists for each attribute of each event, an iterator something for each member.
  let text = "[";
  for (let at = 0; at < members.length; at += 1) {
    const member = members[at];
    if (member !== undefined) text += at === 0 ? itemText(member) : `,${itemText(member)}`;
  }
  return `${text}]`;
}

function itemText({ name, type = "", value: { kind, text }, members }: Member): string {
  const value = kind === "object" || kind === "array" ? text : quoted(text);
  const metadata = members === undefined ? "" : `,"metadata":${metadataText(members)}`;
  return `${beginningOf(name, type)}${value}${metadata}}`;
}

/** Texts that JSON writes as they are, as most are: looking takes a third of the time of writing them. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

const MOST_KNOWN = 1000;
/** Limit for the characters of a name and its type; longer ones are not kept, so that clients cannot fill the memory. */
const LONGEST_KNOWN = 200;

/** The beginnings of items by name: metadata have few names, and each of them nearly always the same type. */
const known = new Map<string, { readonly type: string; readonly text: string }>();

function beginningOf(name: string, type: string): string {
  const last = known.get(name);
  if (last?.type === type) return last.text;
  const text = `{"name":${JSON.stringify(name)},"type":${JSON.stringify(type)},"value":`;
  if (name.length + type.length > LONGEST_KNOWN) return text;
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(name, { type, text });
  return text;
}
