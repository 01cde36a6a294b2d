import { type Attribute, attributeText, type Entity, memberText, metadataText } from "../../ngsi/index.js";
import type { NativeValue } from "../contract/column.js";
import { RecentMap } from "../contract/recent-map.js";
import type { Cell } from "../contract/statement.js";
import { type Claim, columnNames, type ReservedColumns } from "./column-names.js";
import {
  type Arrival,
  attributeValue,
  columnLayoutColumns,
  type Layout,
  type LayoutOptions,
  memberValue,
  namesOf,
  type Row,
  recvTimes,
  refuseUnstorable,
  textValue,
} from "./layout.js";

const MOST_SHAPES = 5000;
/**
 * Limit for the characters of all names of an entity; longer ones are not cached, so that clients cannot fill the
 * memory.
 */
const LONGEST_SHAPE = 20_000;

/** The attribute in which NGSI v2 gives the reason for a notification; it is not part of the entity. */
export const ALTERATION_TYPE = "alterationType";

/**
 * Makes one row of an entity: with a column for each attribute, and for each of its members (NGSI-LD) or for all of its
 * metadata (NGSI v2).
 */
export class ColumnLayout implements Layout {
  readonly #options: LayoutOptions;
  readonly #reserved: ReservedColumns;
  readonly #recvTime = recvTimes();
  readonly #columns = new RecentMap<readonly string[]>(MOST_SHAPES);
  /** The last shape of each type: most entities of a type have the same. */
  readonly #latest = new RecentMap<KnownShape>(MOST_SHAPES);

  constructor(options: LayoutOptions, reserved: ReservedColumns) {
    this.#options = options;
    this.#reserved = reserved;
  }

  rows(entity: Entity, arrival: Arrival): readonly Row[] {
    if (entity.attributes.length === 0) return [];

    const stored = entity.api === "v2" ? withoutAlteration(entity) : entity;
    const columns = this.#columnsOf(stored);
    const cells = this.#fixedCells(stored, arrival);
    for (const attribute of stored.attributes) this.#addCells(attribute, entity, cells);
    cells.forEach((cell, index) => refuseUnstorable(cell, entity, columns[index]));
    const values = () => this.#values(stored, arrival);
    return [{ columns, cells, values, native: this.#options.nativeTypes ? columns : none }];
  }

  #fixedCells(entity: Entity, { epochMillis, servicePath }: Arrival): Cell[] {
    const { id, type, api = "ld" } = entity;
    const time = this.#recvTime[api](epochMillis);
    return api === "v2" ? [time, servicePath, id, type] : [time, id, type];
  }

  #addCells(attribute: Attribute, { api }: Entity, cells: Cell[]): void {
    cells.push(this.#attributeCell(attribute));
    if (api !== "v2") for (const member of attribute.members) cells.push(memberText(member));
    else if (this.#options.metadata) cells.push(metadataText(attribute.members));
  }

  #values(entity: Entity, arrival: Arrival): readonly (NativeValue | undefined)[] {
    const [, ...fixed] = this.#fixedCells(entity, arrival);
    return [
      this.#instantValue(arrival, entity),
      ...fixed.map(textValue),
      ...entity.attributes.flatMap((attribute) => this.#attributeValues(attribute, entity)),
    ];
  }

  #instantValue({ epochMillis }: Arrival, { api }: Entity): NativeValue {
    return { kind: "time", text: this.#recvTime.ld(epochMillis), plain: this.#recvTime[api ?? "ld"](epochMillis) };
  }

  #attributeValues(attribute: Attribute, { api }: Entity): readonly (NativeValue | undefined)[] {
    const own = attributeValue(attribute, this.#attributeCell(attribute));
    if (api !== "v2") return [own, ...attribute.members.map((member) => memberValue(member, memberText(member)))];
    return this.#options.metadata ? [own, textValue(metadataText(attribute.members))] : [own];
  }

  #attributeCell(attribute: Attribute): Cell {
    const { form, value } = attribute;
    const isNull = this.#options.nativeTypes && form === "simplified" && value.kind === "null";
    return isNull ? undefined : attributeText(attribute);
  }

  #columnsOf(entity: Entity): readonly string[] {
    const latest = this.#latest.get(entity.type);
    if (latest !== undefined && hasNames(entity, latest)) return latest.columns;

    const shape = shapeOf(entity);
    const columns = this.#columnsOfShape(shape, entity);
    if (shape.length > LONGEST_SHAPE) return columns;
    this.#latest.set(entity.type, { api: entity.api, names: namesIn(entity), columns });
    return columns;
  }

  #columnsOfShape(shape: string, entity: Entity): readonly string[] {
    const isRemembered = shape.length <= LONGEST_SHAPE;
    const known = isRemembered ? this.#columns.get(shape) : undefined;
    if (known !== undefined) return known;

    const claims = entity.attributes.flatMap((attribute) => this.#claims(attribute, entity));
    const fixed = namesOf(columnLayoutColumns[entity.api ?? "ld"], this.#reserved.naming);
    const columns = [...fixed, ...columnNames(claims, this.#reserved)];
    if (isRemembered) this.#columns.set(shape, columns);
    return columns;
  }

  #claims({ name, members }: Attribute, { api }: Entity): readonly Claim[] {
    const own: Claim = { name, origin: name, of: "attribute" };
    if (api !== "v2") return [own, ...members.map((member) => memberClaim(name, member.name))];
    return this.#options.metadata ? [own, memberClaim(name, "md")] : [own];
  }
}

const none: readonly string[] = [];

function withoutAlteration(entity: Entity): Entity {
  return { ...entity, attributes: entity.attributes.filter(({ name }) => name !== ALTERATION_TYPE) };
}

function memberClaim(attribute: string, member: string): Claim {
  return { name: `${attribute}_${member}`, origin: `${attribute}\0${member}`, of: "member" };
}

interface KnownShape {
  readonly api: Entity["api"];
  /** For each attribute its name and those of its members. */
  readonly names: readonly (readonly string[])[];
  readonly columns: readonly string[];
}

function namesIn({ api, attributes }: Entity): readonly (readonly string[])[] {
  return attributes.map(({ name, members }) =>
    api === "v2" ? [name] : [name, ...members.map((member) => member.name)],
  );
}

/** Whether {@link namesIn} would return the known names, without allocating: this runs for every event. */
function hasNames({ api, attributes }: Entity, known: KnownShape): boolean {
  if (api !== known.api || attributes.length !== known.names.length) return false;
  for (let at = 0; at < attributes.length; at += 1) {
    if (!isNamed(attributes[at], known.names[at], api)) return false;
  }
  return true;
}

function isNamed(attribute: Attribute | undefined, names: readonly string[] | undefined, api: Entity["api"]): boolean {
  if (attribute === undefined || names === undefined || attribute.name !== names[0]) return false;
  if (api === "v2") return true;
  const { members } = attribute;
  if (names.length !== members.length + 1) return false;
  for (let at = 0; at < members.length; at += 1) if (members[at]?.name !== names[at + 1]) return false;
  return true;
}

/** A key of all names of the entity in order. It is unique because names never contain NUL. */
function shapeOf(entity: Entity): string {
  let shape: string = entity.api ?? "ld";
  for (const { name, members } of entity.attributes) {
    refuseUnstorable(name, entity, name);
    shape += `\0a${name}`;
    if (entity.api === "v2") continue;
    for (const member of members) {
      refuseUnstorable(member.name, entity, name);
      shape += `\0m${member.name}`;
    }
  }
  return shape;
}
