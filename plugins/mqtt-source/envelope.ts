import { isUtf8 } from "node:buffer";
import { type Json, parseJson, toValue } from "deneb/ngsi";

/** What a message holds: the body of a notification, and the fields that HTTP would send as headers. */
export interface Content {
  readonly body: Uint8Array;
  /** Names in lower case. */
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * The content of a message. NGSI-LD brokers publish `{"metadata": ..., "body": ...}`, where the body is the notification
 * or its text, and the metadata, which may be absent, an object or a list. Any other message, such as the notification
 * alone of an NGSI v2 broker, stays unchanged.
 */
export function contentOf(payload: Uint8Array): Content {
  const envelope = envelopeIn(payload);
  if (envelope === undefined) return { body: payload, fields: {} };
  const { body = null, metadata } = envelope;
  const text = typeof body === "string" ? body : toValue(body).text;
  return { body: Buffer.from(text), fields: joined(fieldsIn(metadata)) };
}

/** The name of a field with a character that no header can hold; undefined when there is none. */
export function faultyField({ fields }: Content): string | undefined {
  return Object.keys(fields).find((name) => [...`${name}${fields[name]}`].some(isControl));
}

/** A tab may stand in a header; control characters above 127 are letters to it. */
function isControl(character: string): boolean {
  return (character < " " && character !== "\t") || character === "\u007f";
}

type Members = Readonly<Record<string, Json>>;

function envelopeIn(payload: Uint8Array): Members | undefined {
  // Most messages need no second reading. What is not UTF-8 the handler refuses; decoded here, it would be changed.
  if (!Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength).includes('"body"')) return undefined;
  if (!isUtf8(payload)) return undefined;
  const root = read(new TextDecoder().decode(payload));
  if (!isMembers(root) || root.body === undefined) return undefined;
  return others.some((name) => root[name] !== undefined) ? undefined : root;
}

/** Members of notifications and entities, which may have an attribute `body`. */
const others = ["data", "contextResponses", "id", "type"] as const;

function read(text: string): Json | undefined {
  try {
    return parseJson(text, "sent");
  } catch {
    return undefined; // The handler says what is wrong with it.
  }
}

function isMembers(json: Json | undefined): json is Members {
  return typeof json === "object" && json !== null && toValue(json).kind === "object";
}

function isList(json: Json | undefined): json is readonly Json[] {
  return Array.isArray(json);
}

type Field = readonly [name: string, value: string];

/**
 * The fields of `{name: value}`, of a list of such, of `{key, value}` and `{name, value}`, of pairs, and of lines
 * `name: value`; a value may be a list.
 */
function fieldsIn(metadata: Json | undefined): readonly Field[] {
  if (typeof metadata === "string") return fieldsOfText(metadata);
  if (isList(metadata)) return isPair(metadata) ? fieldOf(...metadata) : metadata.flatMap(fieldsIn);
  if (!isMembers(metadata)) return [];
  const { key, name = key, value } = metadata;
  if (typeof name === "string" && value !== undefined) return fieldOf(name, value);
  return Object.entries(metadata).flatMap(([field, content]) => fieldOf(field, content));
}

function fieldsOfText(text: string): readonly Field[] {
  if (/^\s*[{[]/.test(text)) return fieldsIn(withoutText(read(text)));
  const colon = text.indexOf(":");
  return colon === -1 ? [] : fieldOf(text.slice(0, colon), text.slice(colon + 1));
}

/** Text in text is not looked into again. */
function withoutText(json: Json | undefined): Json | undefined {
  return typeof json === "string" ? undefined : json;
}

function isPair(list: readonly Json[]): list is readonly [string, string] {
  const [name, value] = list;
  return list.length === 2 && typeof name === "string" && typeof value === "string" && !name.includes(":");
}

function fieldOf(name: string, value: Json): readonly Field[] {
  if (isList(value)) return value.flatMap((item) => fieldOf(name, item));
  if (value === null || isMembers(value)) return [];
  return [[name.trim().toLowerCase(), toValue(value).text.trim()]];
}

/** Several values of one name are joined by commas, as in HTTP. */
function joined(fields: readonly Field[]): Readonly<Record<string, string>> {
  const values = new Map<string, string>();
  for (const [name, value] of fields) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(values);
}
