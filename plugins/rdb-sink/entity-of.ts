import { type Entity, isEntity } from "deneb/ngsi";
import { AgentError, type Event } from "deneb/sdk";

/** The entity in the body of an event. */
export function entityOf({ body }: Event): Entity {
  if (isEntity(body)) return body;
  throw new AgentError(
    "NOT_AN_ENTITY",
    `storing an event: its body is ${typeof body}, not an entity with id, type and attributes`,
    { retryable: false },
  );
}
