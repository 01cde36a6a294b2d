import { detached } from "./detached.js";
import { JsonScanner } from "./json-scanner.js";
import { type ValueName, valueMembers } from "./ld-vocabulary.js";
import type { Attribute, Entity, Member, Notification, Value } from "./model.js";

const MOST_ATTRIBUTES = 100;

const scanner = new JsonScanner();

/**
 * Reads a normalized NGSI-LD notification as brokers write it, in one pass and without the objects of `JSON.parse`. Answers
 * undefined for every other text, whether it is a notification or not: that is for `readLd` to say, and where this
 * function answers, it answers the same (measured: docs/performance.md).
 */
export function scanLd(text: string): Notification | undefined {
  try {
    return scanner.begin(text) ? notification() : undefined;
  } finally {
    scanner.finish();
  }
}

interface DraftNotification {
  subscriptionId: string | undefined;
  entities: readonly Entity[] | undefined;
}

function notification(): Notification | undefined {
  const draft: DraftNotification = { subscriptionId: undefined, entities: undefined };
  if (!scanner.object(draft, readOfNotification) || !scanner.isAtEnd) return undefined;
  const { subscriptionId, entities } = draft;
  if (entities === undefined) return undefined;
  return subscriptionId === undefined ? { entities } : { subscriptionId, entities };
}

function readOfNotification(draft: DraftNotification): boolean {
  const name = scanner.name();
  if (name === "data") {
    if (draft.entities !== undefined) return false;
    draft.entities = scanner.list(entity);
    return draft.entities !== undefined;
  }
  if (name === "subscriptionId") {
    if (draft.subscriptionId !== undefined) return false;
    draft.subscriptionId = scanner.word();
    return draft.subscriptionId !== undefined;
  }
  return name !== undefined && scanner.value() !== undefined;
}

interface DraftEntity {
  id: string | undefined;
  type: string | undefined;
  readonly attributes: Attribute[];
}

function entity(): Entity | undefined {
  const draft: DraftEntity = { id: undefined, type: undefined, attributes: [] };
  if (!scanner.object(draft, readOfEntity)) return undefined;
  const { id, type, attributes } = draft;
  // None or an empty text, or an entity that is written as a GeoJSON feature.
  return id && type && type !== "Feature" ? { id, type, attributes } : undefined;
}

function readOfEntity(draft: DraftEntity): boolean {
  const name = scanner.name();
  if (name === "id") {
    if (draft.id !== undefined) return false;
    const id = scanner.string();
    // Sinks remember it longer than the notification.
    draft.id = id === undefined ? undefined : detached(id);
    return id !== undefined;
  }
  if (name === "type") {
    if (draft.type !== undefined) return false;
    draft.type = scanner.word();
    return draft.type !== undefined;
  }
  if (name === "@context") return scanner.value() !== undefined;
  return name !== undefined && readAttribute(name, draft.attributes);
}

function readAttribute(name: string, attributes: Attribute[]): boolean {
  if (attributes.length === MOST_ATTRIBUTES || isNamed(attributes, name)) return false;
  const draft: DraftAttribute = { type: undefined, valueName: undefined, value: undefined, members: none };
  if (!scanner.object(draft, readOfAttribute)) return false;
  const { type, value, members } = draft;
  if (type === undefined || value === undefined) return false;
  attributes.push({ name, type, form: "normalized", value, members });
  return true;
}

interface DraftAttribute {
  type: string | undefined;
  /** The member that holds the value, as the type says. */
  valueName: ValueName | undefined;
  value: Value | undefined;
  members: readonly Member[];
}

/** The type must come first; an object that is not the value may be a sub-attribute, which is not read here. */
function readOfAttribute(draft: DraftAttribute): boolean {
  const name = scanner.name();
  if (name === "type") return readType(draft);
  const value = name === undefined || draft.type === undefined ? undefined : scanner.value();
  if (name === undefined || value === undefined) return false;
  if (name === draft.valueName) {
    if (draft.value !== undefined) return false;
    draft.value = value;
    return true;
  }
  if (value.kind === "object" || isNamed(draft.members, name)) return false;
  draft.members = draft.members.length === 0 ? [{ name, value }] : [...draft.members, { name, value }];
  return true;
}

function readType(draft: DraftAttribute): boolean {
  if (draft.type !== undefined) return false;
  draft.type = scanner.word();
  draft.valueName = draft.type === undefined ? undefined : valueMembers.get(draft.type);
  return draft.valueName !== undefined;
}

const none: readonly Member[] = [];

function isNamed(all: readonly { readonly name: string }[], name: string): boolean {
  for (const one of all) if (one.name === name) return true;
  return false;
}
