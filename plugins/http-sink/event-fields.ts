import { attributeJson, type Entity, entityJson, entityValuesJson } from "deneb/ngsi";
import { AgentError, type Event } from "deneb/sdk";
import { type Field, filled, type Template } from "./template.js";

/** The body of one event: JSON where the field is one, else the characters of a JSON string without its quotes. */
export function bodyText(template: Template, event: Event): string {
  return filled(template, (field) => {
    if (field.what === "entity") return entityJson(entityOf(event));
    if (field.what === "entity.values") return entityValuesJson(entityOf(event));
    if (field.what === "attribute") return attributeText(event, field.name) ?? "null";
    return JSON.stringify(plainText(event, field)).slice(1, -1);
  });
}

/** The URL of one event; every value is percent-encoded, so it cannot leave its place. */
export function urlText(template: Template, event: Event): string {
  return filled(template, (field) => {
    const value = plainText(event, field);
    // A URL takes these two, encoded or not, for steps up its path.
    if (value !== "." && value !== "..") return encodeURIComponent(value);
    throw new AgentError("NOT_FOR_A_URL", `writing the url of an event: "${value}" would change its path`, {
      retryable: false,
    });
  });
}

/** A header of one event; what is no printable ASCII is percent-encoded. */
export function headerText(template: Template, event: Event): string {
  return filled(template, (field) => plainText(event, field).replace(/[^\x20-\x7e]/gu, encodeURIComponent));
}

/** What tells one entity from another; events of one entity keep their order. */
export function entityKey({ headers, body }: Event): string {
  const id = isEntity(body) ? [body.id, body.type] : [];
  return JSON.stringify([headers["fiware-service"], headers["fiware-servicepath"], ...id]);
}

function plainText(event: Event, { what, name }: Field): string {
  if (what === "header") return event.headers[name] ?? "";
  if (what === "entity.id") return entityOf(event).id;
  if (what === "entity.type") return entityOf(event).type;
  return attributeOf(event, name)?.value.text ?? "";
}

function attributeText(event: Event, name: string): string | undefined {
  const attribute = attributeOf(event, name);
  return attribute === undefined ? undefined : attributeJson(attribute);
}

function attributeOf(event: Event, name: string) {
  return entityOf(event).attributes.find((attribute) => attribute.name === name);
}

function entityOf({ body }: Event): Entity {
  if (isEntity(body)) return body;
  throw new AgentError("NOT_AN_ENTITY", `sending an event: its body is ${typeof body}, not an entity`, {
    retryable: false,
  });
}

function isEntity(body: unknown): body is Entity {
  if (typeof body !== "object" || body === null) return false;
  if (!("id" in body && "type" in body && "attributes" in body)) return false;
  return typeof body.id === "string" && typeof body.type === "string" && Array.isArray(body.attributes);
}
