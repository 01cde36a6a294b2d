import {
  type Attribute,
  type Entity,
  type Member,
  memberText,
  metadataText,
  othersJson,
  subMembersJson,
} from "../../ngsi/index.js";
import type { NativeValue } from "../contract/column.js";
import type { Cell } from "../contract/statement.js";
import type { Claim } from "./column-names.js";
import {
  attributeCell,
  attributeValue,
  type LayoutOptions,
  memberValue,
  metadataValue,
  TIME_MEMBERS,
} from "./layout.js";

/** The attribute in which NGSI v2 gives the reason for a notification; it is not part of the entity. */
export const ALTERATION_TYPE = "alterationType";

/** Whether the notification reports that the entity was deleted. */
export function isRemoved({ api, attributes }: Entity): boolean {
  const tells = api === "v2" ? isEntityDelete : isDeletedAt;
  for (const attribute of attributes) if (tells(attribute)) return true;
  return false;
}

function isEntityDelete({ name, value }: Attribute): boolean {
  return name === ALTERATION_TYPE && value.text === "entityDelete";
}

function isDeletedAt({ name, form, value }: Attribute): boolean {
  return (
    form !== "normalized" && value.kind === "string" && /^(?:https:\/\/uri\.etsi\.org\/ngsi-ld\/)?deletedAt$/.test(name)
  );
}

/** The entity with the attributes that have columns: the reason of a notification has one only if it is a deletion. */
export function withColumns(entity: Entity): Entity {
  if (entity.api !== "v2" || !entity.attributes.some(isOtherReason)) return entity;
  return { ...entity, attributes: entity.attributes.filter((attribute) => !isOtherReason(attribute)) };
}

function isOtherReason(attribute: Attribute): boolean {
  return attribute.name === ALTERATION_TYPE && !isEntityDelete(attribute);
}

/** Whether a sub-attribute has a column for what it has besides its value. Times alone are left out, as ever. */
export function hasMore({ members }: Member): boolean {
  return members?.some(({ name }) => !TIME_MEMBERS.has(name)) === true;
}

/** The columns that an attribute needs: its own and those of its members (NGSI-LD) or of its metadata (NGSI v2). */
export function claimsOf(
  { name, members, others }: Attribute,
  { api }: Pick<Entity, "api">,
  { metadata }: Pick<LayoutOptions, "metadata">,
): readonly Claim[] {
  const own: Claim = { name, origin: name, of: "attribute" };
  if (api === "v2") return metadata && name !== ALTERATION_TYPE ? [own, memberClaim(name, "md")] : [own];
  const claims = [own];
  for (const member of members) {
    claims.push(memberClaim(name, member.name));
    if (hasMore(member)) claims.push(memberClaim(name, `${member.name}_md`, `${member.name}\0md`));
  }
  if (others !== undefined) claims.push(memberClaim(name, "datasets", "\0datasets"));
  return claims;
}

function memberClaim(attribute: string, member: string, origin = member): Claim {
  return { name: `${attribute}_${member}`, origin: `${attribute}\0${origin}`, of: "member" };
}

/** The number of columns of {@link claimsOf}. */
export function widthOf({ name, members, others }: Attribute, { api }: Entity, { metadata }: LayoutOptions): number {
  if (api === "v2") return metadata && name !== ALTERATION_TYPE ? 2 : 1;
  let width = others === undefined ? 1 : 2;
  for (const member of members) width += hasMore(member) ? 2 : 1;
  return width;
}

/** The typed value of the column of an attribute itself. */
export function ownValue(
  attribute: Attribute,
  entity: Pick<Entity, "api">,
  options: LayoutOptions,
): NativeValue | undefined {
  return attributeValue(attribute, entity, attributeCell(attribute, entity, options), options);
}

/** Adds the cells of all attributes. By index, as all that runs for each event: for lists of many kinds an iterator allocates. */
export function addAllCells(entity: Entity, options: LayoutOptions, cells: Cell[]): void {
  const { attributes } = entity;
  for (let at = 0; at < attributes.length; at += 1) {
    const attribute = attributes[at];
    if (attribute !== undefined) addCells(attribute, entity, options, cells);
  }
}

/** Adds the cells of the columns of {@link claimsOf}, in the same order. */
function addCells(attribute: Attribute, entity: Entity, options: LayoutOptions, cells: Cell[]): void {
  cells.push(attributeCell(attribute, entity, options));
  if (entity.api === "v2") {
    if (options.metadata && attribute.name !== ALTERATION_TYPE) cells.push(metadataText(attribute.members));
    return;
  }
  const { members } = attribute;
  for (let at = 0; at < members.length; at += 1) {
    const member = members[at];
    if (member === undefined) continue;
    cells.push(memberText(member));
    if (hasMore(member)) cells.push(subMembersJson(member));
  }
  if (attribute.others !== undefined) cells.push(othersJson(attribute));
}

/** The typed values of the same columns. */
export function valuesOf(
  attribute: Attribute,
  entity: Entity,
  options: LayoutOptions,
): readonly (NativeValue | undefined)[] {
  const own = ownValue(attribute, entity, options);
  if (entity.api === "v2") {
    const hasMetadata = options.metadata && attribute.name !== ALTERATION_TYPE;
    return hasMetadata ? [own, metadataValue(metadataText(attribute.members))] : [own];
  }
  return [
    own,
    ...attribute.members.flatMap((member) => [
      memberValue(member, memberText(member)),
      ...(hasMore(member) ? [jsonValue(subMembersJson(member))] : []),
    ]),
    ...(attribute.others === undefined ? [] : [jsonValue(othersJson(attribute))]),
  ];
}

function jsonValue(text: Cell): NativeValue | undefined {
  return text === undefined ? undefined : { kind: "json", text, plain: text };
}
