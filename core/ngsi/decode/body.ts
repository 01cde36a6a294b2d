import { AgentError } from "../../sdk/index.js";
import type { Entity, Notification } from "../model.js";
import { isArray, isObject, type Json, type JsonObject, toValue } from "../values/json.js";

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

/** The notification of these entities, with the id of its subscription where the body has one. */
export function withSubscription({ subscriptionId }: JsonObject, entities: readonly Entity[]): Notification {
  if (subscriptionId === undefined || subscriptionId === null) return { entities };
  return { subscriptionId: toValue(subscriptionId).text, entities };
}

/** The type of an NGSI v2 or v1 attribute or metadata item, if it is a text. */
export function typeOf(type: Json | undefined): { readonly type?: string } {
  return typeof type === "string" ? { type } : {};
}
