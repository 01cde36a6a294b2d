import { type Attribute, type Entity, isGeometryAttribute } from "../../ngsi/index.js";
import type { NativeValue } from "../contract/column.js";
import { RecentMap } from "../contract/recent-map.js";
import type { Cell } from "../contract/statement.js";
import { addAllCells, claimsOf, hasMore, ownValue, valuesOf, widthOf, withColumns } from "./attribute-columns.js";
import { columnNames, type ReservedColumns } from "./column-names.js";
import {
  type Arrival,
  type AttributeColumns,
  columnLayoutColumns,
  type Layout,
  type LayoutOptions,
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

/**
 * Makes one row of an entity: with a column for each attribute, and for each of its members (NGSI-LD) or for all of its
 * metadata (NGSI v2).
 */
export class ColumnLayout implements Layout {
  readonly #options: LayoutOptions;
  readonly #reserved: ReservedColumns;
  readonly #recvTime = recvTimes();
  readonly #geometries = new GeometryColumns();
  readonly #columns = new RecentMap<ShapeColumns>(MOST_SHAPES);
  /** The last shape of each type: most entities of a type have the same. */
  readonly #latest = new RecentMap<KnownShape>(MOST_SHAPES);

  constructor(options: LayoutOptions, reserved: ReservedColumns) {
    this.#options = options;
    this.#reserved = reserved;
  }

  rows(entity: Entity, arrival: Arrival): readonly Row[] {
    if (entity.attributes.length === 0) return [];

    const stored = withColumns(entity);
    const { columns, attributes } = this.#columnsOf(stored);
    const cells = this.#fixedCells(stored, arrival);
    addAllCells(stored, this.#options, cells);
    for (let at = 0; at < cells.length; at += 1) refuseUnstorable(cells[at], entity, columns[at]);
    const values = (only?: number) => this.#values(stored, arrival, only);
    return [{ columns, cells, values, native: this.#native(columns, stored), attributes }];
  }

  /** The columns that get the types of their values. */
  #native(columns: readonly string[], entity: Entity): readonly string[] {
    if (this.#options.nativeTypes) return columns;
    return this.#options.geometryX === undefined ? none : this.#geometries.columns(columns, entity, this.#options);
  }

  #fixedCells(entity: Entity, { epochMillis, servicePath }: Arrival): Cell[] {
    const { id, type, api = "ld" } = entity;
    const time = this.#recvTime[api](epochMillis);
    return api === "v2" ? [time, servicePath, id, type] : [time, id, type];
  }

  #values(entity: Entity, arrival: Arrival, only?: number): readonly (NativeValue | undefined)[] {
    if (only !== undefined) return [this.#value(only, entity) ?? this.#values(entity, arrival)[only]];
    const [, ...fixed] = this.#fixedCells(entity, arrival);
    return [
      this.#instantValue(arrival, entity),
      ...fixed.map(textValue),
      ...entity.attributes.flatMap((attribute) => valuesOf(attribute, entity, this.#options)),
    ];
  }

  /** The value of a column of an attribute; undefined for any other column. */
  #value(column: number, entity: Entity): NativeValue | undefined {
    let at: number = columnLayoutColumns[entity.api ?? "ld"].length;
    for (const attribute of entity.attributes) {
      if (at === column) return ownValue(attribute, entity, this.#options);
      at += widthOf(attribute, entity, this.#options);
    }
    return undefined;
  }

  #instantValue({ epochMillis }: Arrival, { api }: Entity): NativeValue {
    return { kind: "time", text: this.#recvTime.ld(epochMillis), plain: this.#recvTime[api ?? "ld"](epochMillis) };
  }

  #columnsOf(entity: Entity): ShapeColumns {
    const latest = this.#latest.get(entity.type);
    if (latest !== undefined && hasNames(entity, latest)) return latest.shaped;

    const shape = shapeOf(entity);
    const shaped = this.#columnsOfShape(shape, entity);
    if (shape.length > LONGEST_SHAPE) return shaped;
    this.#latest.set(entity.type, { api: entity.api, names: namesIn(entity), shaped });
    return shaped;
  }

  #columnsOfShape(shape: string, entity: Entity): ShapeColumns {
    const isRemembered = shape.length <= LONGEST_SHAPE;
    const known = isRemembered ? this.#columns.get(shape) : undefined;
    if (known !== undefined) return known;

    const shaped = this.#shaped(entity);
    if (isRemembered) this.#columns.set(shape, shaped);
    return shaped;
  }

  #shaped(entity: Entity): ShapeColumns {
    const claims = entity.attributes.map((attribute) => claimsOf(attribute, entity, this.#options));
    const own = columnNames(claims.flat(), this.#reserved);
    const columns = [...namesOf(columnLayoutColumns[entity.api ?? "ld"], this.#reserved.naming), ...own];
    if (entity.api === "v2") return { columns, attributes: [] };
    let at = 0;
    const attributes = entity.attributes.map(({ name }, index) => {
      const [, ...ofMembers] = claims[index] ?? [];
      const column = own[at++] ?? "";
      return { name, column, members: ofMembers.map((claim) => ({ name: claim.name, column: own[at++] ?? "" })) };
    });
    return { columns, attributes };
  }
}

const none: readonly string[] = [];

/** The columns of all entities with the same attributes and members. */
interface ShapeColumns {
  readonly columns: readonly string[];
  readonly attributes: readonly AttributeColumns[];
}

interface KnownShape {
  readonly api: Entity["api"];
  /** For each attribute its name and those of its members. */
  readonly names: readonly (readonly ShapeName[])[];
  readonly shaped: ShapeColumns;
}

/** A name, or one of the marks below. */
type ShapeName = string | number;

/** The member before has a second column. */
const MORE = 1;
/** The attribute has other instances. */
const OTHERS = 2;

function namesIn({ api, attributes }: Entity): readonly (readonly ShapeName[])[] {
  return attributes.map((attribute) => (api === "v2" ? [attribute.name] : ldNames(attribute)));
}

function ldNames({ name, members, others }: Attribute): readonly ShapeName[] {
  const names = members.flatMap((member) => (hasMore(member) ? [member.name, MORE] : [member.name]));
  return others === undefined ? [name, ...names] : [name, ...names, OTHERS];
}

/** Whether {@link namesIn} would return the known names, without allocating: this runs for every event. */
function hasNames({ api, attributes }: Entity, known: KnownShape): boolean {
  if (api !== known.api || attributes.length !== known.names.length) return false;
  for (let at = 0; at < attributes.length; at += 1) {
    if (!isNamed(attributes[at], known.names[at], api)) return false;
  }
  return true;
}

function isNamed(
  attribute: Attribute | undefined,
  names: readonly ShapeName[] | undefined,
  api: Entity["api"],
): boolean {
  if (attribute === undefined || names === undefined || attribute.name !== names[0]) return false;
  if (api === "v2") return true;
  let at = 1;
  const { members } = attribute;
  for (let index = 0; index < members.length; index += 1) {
    const member = members[index];
    if (member === undefined || member.name !== names[at++]) return false;
    if (hasMore(member) && names[at++] !== MORE) return false;
  }
  if (attribute.others !== undefined && names[at++] !== OTHERS) return false;
  return at === names.length;
}

/** A key of all names of the entity in order. It is unique because names never contain NUL. */
function shapeOf(entity: Entity): string {
  let shape: string = entity.api ?? "ld";
  for (const { name, members, others } of entity.attributes) {
    refuseUnstorable(name, entity, name);
    shape += `\0a${name}`;
    if (entity.api === "v2") continue;
    for (const member of members) {
      refuseUnstorable(member.name, entity, name);
      shape += `\0m${member.name}`;
      if (hasMore(member)) shape += "\0+";
    }
    if (others !== undefined) shape += "\0*";
  }
  return shape;
}

/** Finds the columns of an entity that hold geometries. */
class GeometryColumns {
  /** The last list for each list of columns: entities with the same attributes mostly have the same geometries. */
  readonly #latest = new WeakMap<readonly string[], readonly string[]>();

  /** The same list for the same columns and geometries. */
  columns(columns: readonly string[], entity: Entity, options: LayoutOptions): readonly string[] {
    let found: string[] | undefined;
    let at: number = columnLayoutColumns[entity.api ?? "ld"].length;
    for (const attribute of entity.attributes) {
      const column = columns[at];
      at += widthOf(attribute, entity, options);
      if (column === undefined || !isGeometryAttribute(attribute)) continue;
      if (found === undefined) found = [column];
      else found.push(column);
    }
    if (found === undefined) return none;
    const all: readonly string[] = found;
    const latest = this.#latest.get(columns);
    if (latest?.length === all.length && latest.every((column, index) => column === all[index])) return latest;
    this.#latest.set(columns, all);
    return all;
  }
}
