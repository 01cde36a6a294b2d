/**
 * What of an entity cannot be read; undefined when all can. A plugin may have made it, and what reads it next would throw something that
 * names neither the entity nor the attribute, and that looks like an error of the store.
 */
export function entityFault({ api, attributes }: { readonly api?: unknown; readonly attributes: readonly unknown[] }) {
  if (api !== undefined && api !== "v2") return 'its api is neither "v2" nor absent';
  return areReadable(attributes) ? undefined : attributesFault(attributes);
}

/** Whether nothing is wrong, without a text for what is: this runs for every event. */
function areReadable(attributes: readonly unknown[]): boolean {
  for (let at = 0; at < attributes.length; at += 1) {
    const attribute = partsOf(attributes[at]);
    if (attribute === undefined || !isReadable(attribute) || !Array.isArray(attribute.members)) return false;
    const { others } = attribute;
    if (others !== undefined && !(Array.isArray(others) && areReadable(others))) return false;
  }
  return true;
}

function isReadable({ name, type, value, members }: Parts): boolean {
  if (typeof name !== "string" || (type !== undefined && typeof type !== "string") || !isValue(value)) return false;
  return members === undefined || (Array.isArray(members) && areReadableMembers(members));
}

function areReadableMembers(members: readonly unknown[]): boolean {
  for (let at = 0; at < members.length; at += 1) {
    const member = partsOf(members[at]);
    if (member === undefined || !isReadable(member)) return false;
  }
  return true;
}

function partsOf(made: unknown): Parts | undefined {
  return typeof made === "object" && made !== null ? made : undefined;
}

function attributesFault(attributes: readonly unknown[]): string | undefined {
  for (const attribute of attributes) {
    const fault = namedFault(attribute, "attribute") ?? furtherFault(attribute);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** What an attribute has and a member of it has not. */
function furtherFault(attribute: unknown): string | undefined {
  const { name, members, others }: Parts = Object(attribute);
  if (!Array.isArray(members)) return `attribute "${name}" has no list of members`;
  if (others === undefined) return undefined;
  return Array.isArray(others) ? attributesFault(others) : `attribute "${name}" has others that are no list`;
}

function namedFault(made: unknown, what: "attribute" | "member", of = ""): string | undefined {
  if (typeof made !== "object" || made === null) return `an item of the ${what}s${of} is no object`;
  const { name, type, value, members }: Parts = made;
  if (typeof name !== "string") return `an item of the ${what}s${of} has no text as name`;
  const title = `${what} "${name}"${of}`;
  if (type !== undefined && typeof type !== "string") return `${title} has no text as type`;
  if (!isValue(value)) return `${title} has no value with kind and text, both of them texts`;
  if (members === undefined) return undefined;
  if (!Array.isArray(members)) return `${title} has members that are no list`;
  for (const member of members) {
    const fault = namedFault(member, "member", ` of ${title}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

interface Parts {
  readonly name?: unknown;
  readonly type?: unknown;
  readonly value?: unknown;
  readonly members?: unknown;
  readonly others?: unknown;
}

function isValue(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const { kind, text }: { readonly kind?: unknown; readonly text?: unknown } = value;
  return typeof kind === "string" && typeof text === "string";
}
