import {
  type Attribute,
  attributeText,
  type ColumnNaming,
  type Entity,
  type Member,
  metadataText,
  type ValueKind,
} from "../../ngsi/index.js";
import type { Cell } from "../contract/statement.js";
import {
  type Arrival,
  attributeValue,
  type Layout,
  type LayoutOptions,
  namesOf,
  type Row,
  recvTimes,
  refuseUnstorable,
  rowLayoutColumns,
  textValue,
} from "./layout.js";

/** Makes a row of each attribute, in columns that every table has. */
export class RowLayout implements Layout {
  readonly #options: LayoutOptions;
  readonly #columns: readonly string[];
  readonly #instant: readonly string[];
  readonly #recvTime = recvTimes();

  constructor(options: LayoutOptions, naming: ColumnNaming) {
    this.#options = options;
    this.#columns = namesOf(options.metadata ? rowLayoutColumns : rowLayoutColumns.slice(0, -1), naming);
    this.#instant = this.#columns.slice(0, 1);
  }

  rows(entity: Entity, arrival: Arrival): readonly Row[] {
    return entity.attributes.map((attribute) => this.#row(attribute, entity, arrival));
  }

  #row(attribute: Attribute, entity: Entity, { epochMillis, servicePath }: Arrival): Row {
    const { id, type, api = "ld" } = entity;
    const instant = String(epochMillis);
    const value = this.#valueCell(attribute);
    const before = [this.#recvTime[api](epochMillis), servicePath, id, type, attribute.name, attribute.type ?? ""];
    const after = this.#options.metadata ? [metadataOf(attribute, entity)] : [];
    const cells = [instant, ...before, value, ...after];
    cells.forEach((cell, index) => refuseUnstorable(cell, entity, this.#columns[index]));
    const values = () => [
      { kind: "integer", text: instant, plain: instant } as const,
      ...before.map(textValue),
      attributeValue(attribute, value),
      ...after.map(textValue),
    ];
    // The tables of NGSI v2 keep the instant as text; those of NGSI-LD as a number.
    return { columns: this.#columns, cells, values, native: api === "ld" ? this.#instant : [] };
  }

  #valueCell(attribute: Attribute): Cell {
    const isNull = this.#options.nativeTypes && attribute.value.kind === "null";
    return isNull ? undefined : attributeText(attribute);
  }
}

function metadataOf({ members }: Attribute, { api }: Entity): string {
  return metadataText(api === "v2" ? members : members.map(typed));
}

/** A plain member of NGSI-LD has no type; metadata have one. */
function typed(member: Member): Member {
  return member.type === undefined ? { ...member, type: metadataTypes[member.value.kind] } : member;
}

const metadataTypes = {
  string: "Text",
  number: "Number",
  boolean: "Boolean",
  null: "None",
  object: "StructuredValue",
  array: "StructuredValue",
} as const satisfies Record<ValueKind, string>;
