import type { Attribute, Entity, Member, Value } from "../../../core/ngsi/index.js";
import type { Event } from "../../../core/sdk/index.js";
import { receivedAt } from "./sinks.js";

/** A value of an NGSI v2 attribute as it stands in JSON; `undefined` for null. */
export type Given = string | number | boolean | object | undefined;

/** An attribute of NGSI v2 with metadata of type Text. */
export function v2Attribute(
  name: string,
  type: string,
  value: Given,
  metadata: Readonly<Record<string, string>> = {},
): Attribute {
  const members = Object.entries(metadata).map(
    ([item, text]): Member => ({ name: item, type: "Text", value: { kind: "string", text } }),
  );
  return { name, type, form: "normalized", value: jsonValue(value), members };
}

export function v2Entity(id: string, ...attributes: readonly Attribute[]): Entity {
  return { id, type: "T", api: "v2", attributes };
}

export interface Arrived {
  readonly servicePath?: string;
  /** Milliseconds after the time of the other tests. */
  readonly later?: number;
}

export function v2Event(body: Entity, service: string, { servicePath = "/", later = 0 }: Arrived = {}): Event {
  const timestamp = String(Date.parse(receivedAt) + later);
  return { headers: { "fiware-service": service, "fiware-servicepath": servicePath, timestamp }, body };
}

function jsonValue(value: Given): Value {
  if (value === undefined) return { kind: "null", text: "null" };
  if (typeof value === "string") return { kind: "string", text: value };
  if (typeof value === "number") return { kind: "number", text: String(value) };
  if (typeof value === "boolean") return { kind: "boolean", text: String(value) };
  return { kind: Array.isArray(value) ? "array" : "object", text: JSON.stringify(value) };
}
