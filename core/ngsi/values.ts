import { AgentError } from "../sdk/index.js";
import type { Attribute, Member, Value } from "./model.js";

/**
 * The text a store keeps for an attribute; undefined stands for SQL NULL. A string is plain in the normalized form and
 * JSON text, with its quotes, in the simplified form; likewise `null` is NULL in the one and the text `null` in the other.
 */
export function attributeText(attribute: Attribute): string | undefined {
  return attribute.form === "normalized" ? plainText(attribute.value) : jsonText(attribute.value);
}

/** The text a store keeps for a member of an attribute; undefined stands for SQL NULL. */
export function memberText(member: Member): string | undefined {
  return plainText(member.value);
}

/** A time as ISO 8601 text in UTC with three digits of milliseconds, for example `2020-05-13T14:46:21.918Z`. */
export function isoTime(epochMillis: number): string {
  const time = new Date(epochMillis);
  if (Number.isNaN(time.getTime())) {
    throw new AgentError("INVALID_TIME", `writing "${epochMillis}" as a time: not milliseconds since 1970`);
  }
  return time.toISOString();
}

function plainText({ kind, text }: Value): string | undefined {
  return kind === "null" ? undefined : text;
}

function jsonText({ kind, text }: Value): string {
  return kind === "string" ? JSON.stringify(text) : text;
}
