import { AgentError } from "../sdk/index.js";
import { isArray, isObject, type Json, toValue } from "./json.js";

/** The error of a JSON body that is no notification of that API. */
export function notANotification(api: "LD" | "v2" | "v1", reason: string): AgentError {
  const name = api === "LD" ? "NGSI-LD" : `NGSI ${api}`;
  return new AgentError("NOT_A_NOTIFICATION", `reading the body as an ${name} notification: ${reason}`);
}

/** Whether the value can be a name: a text with at least one character. */
export function isName(json: Json | undefined): json is string {
  return typeof json === "string" && json !== "";
}

/** The value as an error shows it: short, and never the inside of an object or list. */
export function shown(json: Json | undefined): string {
  if (json === undefined) return "missing";
  if (isArray(json)) return "a list";
  if (isObject(json)) return "an object";
  const { text } = toValue(json);
  return `"${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text}"`;
}

const LONGEST_SHOWN = 40;
