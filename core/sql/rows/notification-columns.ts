import { type ColumnNaming, columnName, type Entity } from "../../ngsi/index.js";
import type { NativeValue } from "../contract/column.js";
import { notificationColumns } from "../contract/schema.js";
import type { Cell } from "../contract/statement.js";
import {
  type Arrival,
  isTime,
  type Layout,
  type LayoutOptions,
  namesOf,
  type Row,
  refuseUnstorable,
  textValue,
} from "./layout.js";

type Source = (typeof notificationColumns)[number];

/** The columns that the configuration names, in the order of a table. */
export function chosenColumns(words: readonly string[]): readonly Source[] {
  const wanted = new Set(words.map((word) => word.toLowerCase()));
  return notificationColumns.filter((name) => wanted.has(name.toLowerCase()));
}

const cellOf = {
  notifiedAt: ({ notifiedAt }: Arrival): Cell => notifiedAt,
  subscriptionId: ({ subscriptionId }: Arrival): Cell => subscriptionId,
  sequence: sequenceOf,
} as const satisfies Record<Source, (arrival: Arrival) => Cell>;

const SEQUENCE = /^\d{1,18}$/;
const MICROS = 1000;

/** Without a number, as in events of earlier versions, that of the reception time. */
function sequenceOf({ sequence = "", epochMillis }: Arrival): Cell {
  return SEQUENCE.test(sequence) ? sequence : String(epochMillis * MICROS);
}

interface Extended {
  readonly columns: readonly string[];
  /** Where the own columns begin: behind the type of the entity. */
  readonly at: number;
}

/** Adds columns about the notification to the rows of another layout, behind those of the entity. */
export class NotificationColumns implements Layout {
  readonly #layout: Layout;
  readonly #sources: readonly Source[];
  readonly #columns: readonly string[];
  /** These get the type of their values: the sequence always, so that it is compared as a number. */
  readonly #native: readonly string[];
  readonly #entityType: string;
  readonly #extended = new WeakMap<readonly string[], Extended>();
  readonly #natives = new WeakMap<readonly string[], readonly string[]>();

  constructor(layout: Layout, chosen: readonly Source[], naming: ColumnNaming, { nativeTypes }: LayoutOptions) {
    this.#layout = layout;
    this.#sources = chosen;
    this.#columns = namesOf(chosen, naming);
    const typed = chosen.filter((source) => source === "sequence" || (nativeTypes && source === "notifiedAt"));
    this.#native = namesOf(typed, naming);
    this.#entityType = columnName("entityType", naming);
  }

  rows(entity: Entity, arrival: Arrival): readonly Row[] {
    const own = this.#sources.map((source) => cellOf[source](arrival));
    own.forEach((cell, index) => refuseUnstorable(cell, entity, this.#columns[index]));
    const values = () => this.#sources.map((source, index) => typedCell(source, own[index]));
    const one = (column: number, at: number, row: Row) => {
      if (column < at) return row.values(column);
      return column < at + own.length ? [values()[column - at]] : row.values(column - own.length);
    };
    return this.#layout.rows(entity, arrival).map((row) => {
      const { columns, at } = this.#extendedBy(row.columns);
      return {
        columns,
        cells: inserted(row.cells, own, at),
        values: (only?: number) => (only === undefined ? inserted(row.values(), values(), at) : one(only, at, row)),
        native: this.#nativeOf(row.native),
        attributes: row.attributes,
      };
    });
  }

  #extendedBy(columns: readonly string[]): Extended {
    const known = this.#extended.get(columns);
    if (known !== undefined) return known;

    const at = columns.indexOf(this.#entityType) + 1;
    const extended = { columns: inserted(columns, this.#columns, at), at };
    this.#extended.set(columns, extended);
    return extended;
  }

  #nativeOf(native: readonly string[]): readonly string[] {
    if (native.length === 0) return this.#native;
    const known = this.#natives.get(native);
    if (known !== undefined) return known;

    const all = [...native, ...this.#native];
    this.#natives.set(native, all);
    return all;
  }
}

function typedCell(source: Source, cell: Cell): NativeValue | undefined {
  if (cell === undefined) return undefined;
  if (source === "sequence") return { kind: "integer", text: cell, plain: cell };
  return source === "notifiedAt" && isTime(cell) ? { kind: "time", text: cell, plain: cell } : textValue(cell);
}

/** By `concat`: spreading takes several times as long. */
function inserted<T>(items: readonly T[], own: readonly T[], at: number): readonly T[] {
  return items.slice(0, at).concat(own, items.slice(at));
}
