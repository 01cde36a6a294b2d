import { AgentError, type Event } from "../sdk/index.js";
import { entityFault, type MadeParts } from "./entity-fault.js";

/** What a value was in the JSON of the notification. @stable */
export type ValueKind = "string" | "number" | "boolean" | "null" | "object" | "array";

/**
 * A value as text. For a string `text` is its characters; for every other kind it is compact JSON text with the
 * digits of each number as precise as they were sent. Being text, it survives any store and any durable channel.
 * @stable
 */
export interface Value {
  readonly kind: ValueKind;
  readonly text: string;
}

/**
 * What belongs to an attribute: a sub-attribute (NGSI-LD), a metadata item (NGSI v2 and v1), or a plain member such
 * as unitCode.
 * @stable
 */
export interface Member {
  readonly name: string;
  /** Type of the sub-attribute or metadata item; absent for a plain member. */
  readonly type?: string;
  readonly value: Value;
  /** What a sub-attribute of NGSI-LD has besides type and value, at any depth; absent for nothing. */
  readonly members?: readonly Member[];
}

/** One attribute of an entity, with everything the notification said about it. @stable */
export interface Attribute {
  readonly name: string;
  /** `Property`, `Relationship`, ... or the NGSI v2 type; absent where the notification gave only the value. */
  readonly type?: string;
  /**
   * `simplified`: an NGSI-LD notification gave only the value (keyValues, or a bare value of the concise form). Stores
   * quote its texts. Those of NGSI v2 and v1, and of NGSI-LD where the configuration states keyValues, are never quoted,
   * so there it is always `normalized`. `plain`: a member that NGSI-LD itself gives an entity, such as createdAt or
   * scope: only a value, and its texts are not quoted.
   */
  readonly form: "normalized" | "simplified" | "plain";
  /** Kind `null` also where a typed attribute came without a value. */
  readonly value: Value;
  readonly members: readonly Member[];
  /**
   * Where NGSI-LD gave several instances: those besides this one, in the order of the document. This one is the default
   * instance, or without such the one whose `datasetId` comes first in the alphabet.
   */
  readonly others?: readonly Attribute[];
}

/** The API a notification came by. NGSI v1 has the model of v2 and counts as it. @stable */
export type Api = "ld" | "v2";

/** One entity of a notification; the body of an NGSI event. Attributes are in the order of the document. @stable */
export interface Entity {
  readonly id: string;
  /** A list of types is written `[A,B]`. Empty where NGSI v2 or v1 gave none. */
  readonly type: string;
  /** Absent for NGSI-LD. Stores keep the entities of each API the way its users know. */
  readonly api?: "v2";
  readonly attributes: readonly Attribute[];
}

/** True when the body of an event is an entity. @stable */
export function isEntity(body: unknown): body is Entity {
  if (typeof body !== "object" || body === null) return false;
  if (!("id" in body && "type" in body && "attributes" in body)) return false;
  return typeof body.id === "string" && typeof body.type === "string" && Array.isArray(body.attributes);
}

/** A notification: entities, the subscription that they belong to, and the time at which the broker sent it. @stable */
export interface Notification {
  readonly subscriptionId?: string;
  /** As sent. */
  readonly notifiedAt?: string;
  readonly entities: readonly Entity[];
}

/** An event of the ngsi handler: its body is one entity of a notification. @stable */
export type EntityEvent = Event<Entity>;

/** True when the body of an event is an entity; the compiler then knows what `event.body` has. @stable */
export function isEntityEvent(event: Event): event is EntityEvent {
  return isEntity(event.body);
}

/**
 * The entity in the body of an event, typed. Throws with code `NOT_AN_ENTITY`, which makes a dead letter of the event, when
 * another handler or source made it, or a plugin made an entity whose attributes cannot be read.
 * @stable
 */
export function entityOf({ body }: Event): Entity {
  if (!isEntity(body))
    throw notAnEntity(`storing an event: its body is ${typeof body}, not an entity with id, type and attributes`);
  if (isReadable(body)) return body;
  throw notAnEntity(`storing entity "${body.id}": ${entityFault(body)}; the plugin that made it must be corrected`);
}

/** Whether its parts are what their types say; a plugin in JavaScript may have made them. This runs for every event. */
function isReadable({ api, attributes }: { readonly api?: unknown; readonly attributes: readonly unknown[] }): boolean {
  return (api === undefined || api === "v2") && areAttributes(attributes);
}

function areAttributes(made: readonly unknown[]): boolean {
  for (let at = 0; at < made.length; at += 1) {
    const attribute = partsOf(made[at]);
    if (attribute === undefined || !isNamedValue(attribute) || attribute.members === undefined) return false;
    const { others } = attribute;
    if (others !== undefined && !(Array.isArray(others) && areAttributes(others))) return false;
  }
  return true;
}

function areMembers(made: readonly unknown[]): boolean {
  for (let at = 0; at < made.length; at += 1) {
    const member = partsOf(made[at]);
    if (member === undefined || !isNamedValue(member)) return false;
  }
  return true;
}

function isNamedValue({ name, type, value, members }: MadeParts): boolean {
  if (typeof name !== "string" || (type !== undefined && typeof type !== "string") || !isMadeValue(value)) return false;
  return members === undefined || (Array.isArray(members) && areMembers(members));
}

function isMadeValue(made: unknown): boolean {
  if (typeof made !== "object" || made === null) return false;
  const { kind, text }: { readonly kind?: unknown; readonly text?: unknown } = made;
  return typeof kind === "string" && typeof text === "string";
}

function partsOf(made: unknown): MadeParts | undefined {
  return typeof made === "object" && made !== null ? made : undefined;
}

function notAnEntity(message: string): AgentError {
  return new AgentError("NOT_AN_ENTITY", message, { retryable: false });
}
