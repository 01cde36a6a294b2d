/** What an attribute or a member has, if it is one. */
export interface MadeParts {
  readonly name?: unknown;
  readonly type?: unknown;
  readonly value?: unknown;
  readonly members?: unknown;
  readonly others?: unknown;
}

interface MadeValue {
  readonly kind?: unknown;
  readonly text?: unknown;
}

interface Made {
  readonly api?: unknown;
  readonly attributes: readonly unknown[];
}

/**
 * What of an entity cannot be read. A plugin may have made it, and what reads it next would throw something that names neither the
 * entity nor the attribute, and that looks like an error of the store.
 */
export function entityFault({ api, attributes }: Made): string {
  if (api !== undefined && api !== "v2") return 'its api is neither "v2" nor absent';
  return attributesFault(attributes) ?? "its attributes cannot be read";
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
  const { name, members, others }: MadeParts = Object(attribute);
  if (!Array.isArray(members)) return `attribute "${name}" has no list of members`;
  if (others === undefined) return undefined;
  return Array.isArray(others) ? attributesFault(others) : `attribute "${name}" has others that are no list`;
}

function namedFault(made: unknown, what: "attribute" | "member", of = ""): string | undefined {
  if (typeof made !== "object" || made === null) return `an item of the ${what}s${of} is no object`;
  const { name, type, value, members }: MadeParts = made;
  if (typeof name !== "string") return `an item of the ${what}s${of} has no text as name`;
  const title = `${what} "${name}"${of}`;
  if (type !== undefined && typeof type !== "string") return `${title} has no text as type`;
  const { kind, text }: MadeValue = Object(value);
  if (typeof kind !== "string" || typeof text !== "string")
    return `${title} has no value with kind and text, both of them texts`;
  if (members === undefined) return undefined;
  if (!Array.isArray(members)) return `${title} has members that are no list`;
  for (const member of members) {
    const fault = namedFault(member, "member", ` of ${title}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
