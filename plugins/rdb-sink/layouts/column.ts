import { type Attribute, attributeText, type Entity, memberText } from "deneb/ngsi";
import { AgentError } from "deneb/sdk";
import { RecentMap } from "../recent-map.js";
import type { Cell } from "../statement.js";
import { columnNames } from "./column-names.js";

/** The columns of every table, before those of the attributes. */
export const fixedColumns = ["recvtime", "entityid", "entitytype"] as const;

const MOST_SHAPES = 5000;

export interface Row {
  /** The same list for all entities with the same attributes and members. */
  readonly columns: readonly string[];
  /** One for each column. */
  readonly cells: readonly Cell[];
}

export interface ColumnLayoutOptions {
  /** True: the null of a simplified attribute is SQL NULL, not the text `null`. */
  readonly nativeTypes: boolean;
  /** Columns that the database keeps for itself. */
  readonly reserved: readonly string[];
}

/** Makes one row of one entity: a column for each attribute and each member. */
export class ColumnLayout {
  readonly #nativeTypes: boolean;
  readonly #reserved: ReadonlySet<string>;
  readonly #columns = new RecentMap<readonly string[]>(MOST_SHAPES);

  constructor({ nativeTypes, reserved }: ColumnLayoutOptions) {
    this.#nativeTypes = nativeTypes;
    this.#reserved = new Set([...fixedColumns, ...reserved]);
  }

  /** Undefined for an entity without attributes. Throws `VALUE_NOT_STORABLE` for text that no database keeps. */
  row(entity: Entity, receivedAt: string): Row | undefined {
    if (entity.attributes.length === 0) return undefined;

    const columns = this.#columnsOf(entity);
    const cells: Cell[] = [receivedAt, entity.id, entity.type];
    for (const attribute of entity.attributes) {
      cells.push(this.#attributeCell(attribute));
      for (const member of attribute.members) cells.push(memberText(member));
    }
    cells.forEach((cell, index) => refuseUnstorable(cell, entity, columns[index]));
    return { columns, cells };
  }

  #attributeCell(attribute: Attribute): Cell {
    const isNull = this.#nativeTypes && attribute.form === "simplified" && attribute.value.kind === "null";
    return isNull ? undefined : attributeText(attribute);
  }

  #columnsOf(entity: Entity): readonly string[] {
    const shape = shapeOf(entity);
    const known = this.#columns.get(shape);
    if (known !== undefined) return known;

    const columns = [...fixedColumns, ...columnNames(entity, this.#reserved)];
    this.#columns.set(shape, columns);
    return columns;
  }
}

/** One text for all names of the entity, in order; no other names give the same text, because none holds NUL. */
function shapeOf(entity: Entity): string {
  let shape = "";
  for (const { name, members } of entity.attributes) {
    refuseUnstorable(name, entity, name);
    shape += `\0a${name}`;
    for (const member of members) {
      refuseUnstorable(member.name, entity, name);
      shape += `\0m${member.name}`;
    }
  }
  return shape;
}

// SQLite would cut the text at NUL without a word, and a lone surrogate has no UTF-8 form: both would be stored changed.
const unstorable = /\0|\p{Surrogate}/u;

function refuseUnstorable(text: Cell, { id }: Entity, column: string | undefined): void {
  if (text === undefined || !unstorable.test(text)) return;
  const message = `storing ${JSON.stringify(column)} of entity ${JSON.stringify(id)}: NUL or half a surrogate pair in it`;
  throw new AgentError("VALUE_NOT_STORABLE", `${message}, which no database keeps`);
}
