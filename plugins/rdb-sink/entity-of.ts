import type { Entity } from "deneb/ngsi";
import { AgentError, type Event } from "deneb/sdk";

/** The entity in the body of an event. */
export function entityOf({ body }: Event): Entity {
  if (isEntity(body)) return body;
  throw new AgentError(
    "NOT_AN_ENTITY",
    `storing an event: its body is ${typeof body}, not an entity with id, type and attributes`,
  );
}

function isEntity(body: unknown): body is Entity {
  if (typeof body !== "object" || body === null) return false;
  if (!("id" in body && "type" in body && "attributes" in body)) return false;
  return typeof body.id === "string" && typeof body.type === "string" && Array.isArray(body.attributes);
}
