import { AgentError, type Event } from "../sdk/index.js";
import { type Entity, isEntity } from "./model.js";

/** An event of the ngsi handler: its body is one entity of a notification. @stable */
export type EntityEvent = Event<Entity>;

/** True when the body of an event is an entity; the compiler then knows what `event.body` has. @stable */
export function isEntityEvent(event: Event): event is EntityEvent {
  return isEntity(event.body);
}

/**
 * The entity in the body of an event, typed. Throws with code `NOT_AN_ENTITY`, which makes a dead letter of the event, when
 * another handler or source made it.
 * @stable
 */
export function entityOf({ body }: Event): Entity {
  if (isEntity(body)) return body;
  throw new AgentError(
    "NOT_AN_ENTITY",
    `storing an event: its body is ${typeof body}, not an entity with id, type and attributes`,
    { retryable: false },
  );
}
