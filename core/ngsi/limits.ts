import { AgentError } from "../sdk/index.js";
import type { Attribute, Notification } from "./model.js";

/** How much a notification may hold. The members are named like the properties of the handler that set them. @stable */
export interface NotificationLimits extends JsonLimits {
  /** Characters (UTF-16 units) of an entity id, a type, or the name of an attribute or of one of its members. */
  readonly max_name_length: number;
  /** Attributes of an entity, each counted with its members. */
  readonly max_attributes: number;
  readonly max_entities: number;
}

/** How deep a JSON text may be nested, and how long its numbers may be. */
export interface JsonLimits {
  readonly max_depth: number;
  /** Characters of a number. */
  readonly max_number_length: number;
  /** Bytes of heap that reading the text may take, by an estimate that is rather too high; absent: without limit. */
  readonly heap?: number;
}

/** The error of a notification that holds more than a limit allows. */
export function limitExceeded(property: keyof NotificationLimits, what: string, limit: number): AgentError {
  const message = `reading the notification: ${what}, the limit is ${limit} (${property})`;
  return new AgentError(countLimits.has(property) ? "CONTENT_TOO_LARGE" : "LIMIT_EXCEEDED", message, {
    retryable: false,
  });
}

/** The error of a notification that takes more heap than there is. */
export function tooMuchHeap(cost: number, room: number): AgentError {
  const needs = `it may take ${mebibytes(cost)} MiB of heap, of which there are ${mebibytes(room)} for one notification`;
  const remedy = "send fewer entities in one, or give the process more (--max-old-space-size)";
  return new AgentError("CONTENT_TOO_LARGE", `reading the notification: ${needs}; ${remedy}`, { retryable: false });
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 1_048_576);
}

const countLimits: ReadonlySet<string> = new Set(["max_entities", "max_attributes"]);

/**
 * Throws code `CONTENT_TOO_LARGE` for too many, `LIMIT_EXCEEDED` for names that are too long. The parser has checked the
 * nesting and the numbers.
 */
export function checkLimits({ entities }: Notification, limits: NotificationLimits): void {
  const { max_entities, max_attributes } = limits;
  if (entities.length > max_entities) {
    throw limitExceeded("max_entities", `it has ${entities.length} entities`, max_entities);
  }
  for (const { id, type, attributes } of entities) {
    checkName("an entity id", id, limits);
    checkName("an entity type", type, limits);
    let count = attributes.length;
    for (const attribute of attributes) {
      count += attribute.members.length;
      checkAttribute(attribute, limits);
    }
    if (count <= max_attributes) continue;
    const what = `entity "${id.slice(0, LONGEST_SHOWN)}" has ${count} attributes and members of attributes`;
    throw limitExceeded("max_attributes", what, max_attributes);
  }
}

function checkAttribute({ name, type, members }: Attribute, limits: NotificationLimits): void {
  checkName("an attribute name", name, limits);
  checkName("an attribute type", type, limits);
  for (const member of members) {
    checkName("the name of a metadata item or sub-attribute", member.name, limits);
    checkName("the type of a metadata item or sub-attribute", member.type, limits);
  }
}

function checkName(what: string, name: string | undefined, { max_name_length }: NotificationLimits): void {
  if (name === undefined || name.length <= max_name_length) return;
  const shown = `${what} has ${name.length} characters ("${name.slice(0, LONGEST_SHOWN)}...")`;
  throw limitExceeded("max_name_length", shown, max_name_length);
}

const LONGEST_SHOWN = 40;
