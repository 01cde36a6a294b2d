import {
  type Api,
  type Attribute,
  type ColumnNaming,
  columnName,
  type Entity,
  type Member,
  metadataText,
  othersJson,
  type ValueKind,
} from "../../ngsi/index.js";
import {
  type Arrival,
  attributeCell,
  attributeValue,
  geometryValue,
  type Layout,
  type LayoutOptions,
  metadataValue,
  namesOf,
  type Row,
  recvTimes,
  refuseUnstorable,
  rowGeometryColumn,
  rowLayoutColumns,
  textValue,
} from "./layout.js";

/** Makes a row of each attribute, in columns that every table has. */
export class RowLayout implements Layout {
  readonly #options: LayoutOptions;
  readonly #columns: readonly string[];
  /** The columns that get the types of their values. */
  readonly #native: Readonly<Record<Api, readonly string[]>>;
  readonly #recvTime = recvTimes();

  constructor(options: LayoutOptions, naming: ColumnNaming) {
    this.#options = options;
    const geometry = hasGeometry(options) ? [columnName(rowGeometryColumn, naming)] : [];
    const text = namesOf(options.metadata ? rowLayoutColumns : rowLayoutColumns.slice(0, -1), naming);
    this.#columns = [...text, ...geometry];
    // The tables of NGSI v2 keep the instant as text; those of NGSI-LD as a number.
    this.#native = { ld: [...text.slice(0, 1), ...geometry], v2: geometry };
  }

  rows(entity: Entity, arrival: Arrival): readonly Row[] {
    return entity.attributes.map((attribute) => this.#row(attribute, entity, arrival));
  }

  #row(attribute: Attribute, entity: Entity, { epochMillis, servicePath }: Arrival): Row {
    const { id, type, api = "ld" } = entity;
    const instant = String(epochMillis);
    const value = attributeCell(attribute, entity, this.#options);
    const before = [this.#recvTime[api](epochMillis), servicePath, id, type, attribute.name, attribute.type ?? ""];
    const after = this.#options.metadata ? [metadataOf(attribute, entity)] : [];
    const geometry = hasGeometry(this.#options) ? [geometryValue(attribute, value, this.#options.geometryX)] : none;
    const cells = [instant, ...before, value, ...after, ...geometry.map(() => undefined)];
    cells.forEach((cell, index) => refuseUnstorable(cell, entity, this.#columns[index]));
    const all = () => [
      { kind: "integer", text: instant, plain: instant } as const,
      ...before.map(textValue),
      attributeValue(attribute, entity, value, asText),
      ...after.map(metadataValue),
      ...geometry,
    ];
    const values = (only?: number) => (only === undefined ? all() : [all()[only]]);
    return { columns: this.#columns, cells, values, native: this.#native[api], attributes: [] };
  }
}

const none: readonly undefined[] = [];

/** The column of values has no geometries. */
const asText = { geometryX: undefined } as const;

function hasGeometry({ geometryX, geometryRows }: LayoutOptions): boolean {
  return geometryX !== undefined && geometryRows === true;
}

function metadataOf(attribute: Attribute, { api }: Entity): string {
  const { members } = attribute;
  if (api === "v2") return metadataText(members);
  const text = othersJson(attribute);
  const others: Member | undefined =
    text === undefined ? undefined : { name: "datasets", value: { kind: "array", text } };
  return metadataText((others === undefined ? members : [...members, others]).map(typed));
}

/** A plain member of NGSI-LD has no type; metadata have one. */
function typed(member: Member): Member {
  const { type = metadataTypes[member.value.kind], members } = member;
  return members === undefined ? { ...member, type } : { ...member, type, members: members.map(typed) };
}

const metadataTypes = {
  string: "Text",
  number: "Number",
  boolean: "Boolean",
  null: "None",
  object: "StructuredValue",
  array: "StructuredValue",
} as const satisfies Record<ValueKind, string>;
