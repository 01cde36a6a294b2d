import { type Entity, isEntity } from "../../ngsi/index.js";
import { AgentError, type Event } from "../../sdk/index.js";

/** The entity in the body of an event. */
export function entityOf({ body }: Event): Entity {
  if (isEntity(body)) return body;
  throw new AgentError(
    "NOT_AN_ENTITY",
    `storing an event: its body is ${typeof body}, not an entity with id, type and attributes`,
  );
}
