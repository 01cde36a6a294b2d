import {
  type Api,
  type Attribute,
  type ColumnNaming,
  columnName,
  type Entity,
  isoTime,
  type Member,
  type Value,
} from "../../ngsi/index.js";
import { AgentError } from "../../sdk/index.js";
import type { NativeValue } from "../contract/column.js";
import type { Cell } from "../contract/statement.js";

export interface Row {
  /** The same list for all entities with the same attributes and members. */
  readonly columns: readonly string[];
  /** One for each column: what a text column keeps. */
  readonly cells: readonly Cell[];
  /** One for each column: the value in its own type; undefined for none. Made when it is asked for. */
  values(): readonly (NativeValue | undefined)[];
  /** Those of the columns that, when they are missing, are made with the type of their values and not as text. */
  readonly native: readonly string[];
}

/** How an event arrived. */
export interface Arrival {
  readonly epochMillis: number;
  readonly servicePath: string;
}

/** Makes rows of an entity. */
export interface Layout {
  /** No rows for an entity without attributes. Throws `VALUE_NOT_STORABLE` for text that no database keeps. */
  rows(entity: Entity, arrival: Arrival): readonly Row[];
}

export interface LayoutOptions {
  readonly nativeTypes: boolean;
  readonly metadata: boolean;
}

/** The columns before those of the attributes; `columnName` makes of them what the database has. */
export const columnLayoutColumns = {
  ld: ["recvTime", "entityId", "entityType"],
  v2: ["recvTime", "fiwareServicePath", "entityId", "entityType"],
} as const satisfies Record<Api, readonly string[]>;

/** The columns of the row layout. */
export const rowLayoutColumns = [
  "recvTimeTs",
  "recvTime",
  "fiwareServicePath",
  "entityId",
  "entityType",
  "attrName",
  "attrType",
  "attrValue",
  "attrMd",
] as const;

export function namesOf(columns: readonly string[], naming: ColumnNaming): readonly string[] {
  return columns.map((column) => columnName(column, naming));
}

/** The reception time as each API has it: ISO 8601, or with a blank and without a zone. */
type RecvTime = Readonly<Record<Api, (epochMillis: number) => string>>;

/** Remembers the last time: what came in one millisecond, and all rows of a notification, have the same. */
export function recvTimes(): RecvTime {
  return {
    ld: remembered(isoTime),
    v2: remembered((epochMillis) => isoTime(epochMillis).replace("T", " ").replace("Z", "")),
  };
}

function remembered(write: (epochMillis: number) => string): (epochMillis: number) => string {
  let last = { epochMillis: Number.NaN, text: "" };
  return (epochMillis) => {
    if (epochMillis !== last.epochMillis) last = { epochMillis, text: write(epochMillis) };
    return last.text;
  };
}

// 2020-05-13, 2020-05-13T10:00:00.123456Z, 2020-05-13 10:00+02:00
const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;
const TIME_TYPES: ReadonlySet<string> = new Set(["DateTime", "ISO8601", "TemporalProperty"]);
const TIME_MEMBERS: ReadonlySet<string> = new Set(["observedAt", "createdAt", "modifiedAt", "deletedAt", "expiresAt"]);

/** The value of an attribute in its own type; undefined for none. `plain` is what a text column keeps of it. */
export function attributeValue({ type = "", value }: Attribute, plain: Cell): NativeValue | undefined {
  return native(value, plain, TIME_TYPES.has(type));
}

/** Likewise of a member of an NGSI-LD attribute. */
export function memberValue({ name, type = "", value }: Member, plain: Cell): NativeValue | undefined {
  return native(value, plain, TIME_MEMBERS.has(name) || TIME_TYPES.has(type));
}

/** A text that the sink itself made, or that is a name. */
export function textValue(text: Cell): NativeValue | undefined {
  return text === undefined ? undefined : { kind: "text", text, plain: text };
}

/** Whether this text is an ISO 8601 time or date. */
function isTime(text: string): boolean {
  return TIME.test(text) && !Number.isNaN(Date.parse(text.replace(" ", "T")));
}

function native({ kind, text }: Value, plain: Cell, mayBeTime: boolean): NativeValue | undefined {
  if (kind === "null" || plain === undefined) return undefined;
  if (kind === "string") return { kind: mayBeTime && isTime(text) ? "time" : "text", text, plain };
  if (kind === "number" || kind === "boolean") return { kind, text, plain };
  return { kind: "json", text, plain };
}

// SQLite would cut the text at NUL without a word, and a lone surrogate has no UTF-8 form: both would be stored changed.
const unstorable = /\0|\p{Surrogate}/u;

/** Throws for text that no database keeps. */
export function refuseUnstorable(text: Cell, { id }: Entity, column: string | undefined): void {
  if (text === undefined || !unstorable.test(text)) return;
  const message = `storing ${JSON.stringify(column)} of entity ${JSON.stringify(id)}: NUL or half a surrogate pair in it`;
  throw new AgentError("VALUE_NOT_STORABLE", `${message}, which no database keeps`);
}
