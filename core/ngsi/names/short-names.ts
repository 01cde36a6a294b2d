import type { Attribute, Entity, Member } from "../model.js";

/**
 * The NGSI-LD entity in which each attribute whose name is an IRI has the last part of it as its name, and so has each
 * member within its attribute. A name stays as it is when another one of the same entity, or attribute, is or would be
 * that name in any letter case. An entity of NGSI v2 or v1 is returned unchanged.
 * @stable
 */
export function withShortNames(entity: Entity): Entity {
  if (entity.api === "v2") return entity;
  return { ...entity, attributes: shortened(entity.attributes).map(withShortMembers) };
}

function withShortMembers(attribute: Attribute): Attribute {
  return { ...attribute, members: shortened(attribute.members) };
}

function shortened<T extends Attribute | Member>(items: readonly T[]): readonly T[] {
  if (!items.some(({ name }) => name.includes(":"))) return items;
  const counts = new Map<string, number>();
  for (const { name } of items) {
    const key = lastPart(name).toLowerCase();
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return items.map((item) => {
    const short = lastPart(item.name);
    return short === item.name || counts.get(short.toLowerCase()) !== 1 ? item : { ...item, name: short };
  });
}

/**
 * What follows the last `/` or `#` of an IRI with an authority, or the last `:` of a URN; for any other name, and where
 * nothing follows, the name itself.
 */
function lastPart(name: string): string {
  if (/^urn:[^:]+:/i.test(name)) return name.slice(name.lastIndexOf(":") + 1) || name;
  const authority = /^[a-z][a-z0-9+.-]*:\/\//i.exec(name)?.[0].length;
  if (authority === undefined) return name;
  const end = Math.max(name.lastIndexOf("/"), name.lastIndexOf("#"));
  return end < authority ? name : name.slice(end + 1) || name;
}
