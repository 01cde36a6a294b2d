import {
  type Api,
  type Attribute,
  attributeText,
  type ColumnNaming,
  columnName,
  type Entity,
  type GeometryX,
  geometryText,
  isoTime,
  type Member,
  type Value,
} from "../../ngsi/index.js";
import { isDay } from "../../sdk/calendar.js";
import { AgentError } from "../../sdk/index.js";
import type { NativeValue } from "../contract/column.js";
import type { Cell } from "../contract/statement.js";

export interface Row {
  /** The same list for all entities with the same attributes and members. */
  readonly columns: readonly string[];
  /** The cells for text columns, one for each column. */
  readonly cells: readonly Cell[];
  /** The typed values, one for each column, undefined for none; or only that of one column. Computed on demand. */
  values(only?: number): readonly (NativeValue | undefined)[];
  /** The columns that are created with the type of their values instead of text. */
  readonly native: readonly string[];
  /** The attributes whose members have columns of their own: those of NGSI-LD in the column layout. */
  readonly attributes: readonly AttributeColumns[];
}

/** The values of a row that are made all at once, also where only one is wanted. */
export function only(all: () => readonly (NativeValue | undefined)[]): Row["values"] {
  return (column) => (column === undefined ? all() : [all()[column]]);
}

/** The columns of one attribute of a row. */
export interface AttributeColumns {
  /** The attribute as it is named in the notification, or by its name mapping. */
  readonly name: string;
  readonly column: string;
  /** The columns of its members in this row, each with the name that it stands for. */
  readonly members: readonly { readonly name: string; readonly column: string }[];
}

/** When and where an event arrived. */
export interface Arrival {
  readonly epochMillis: number;
  readonly servicePath: string;
  /** What the event tells about its notification. */
  readonly notifiedAt?: string | undefined;
  readonly subscriptionId?: string | undefined;
  readonly sequence?: string | undefined;
}

/** Makes rows of an entity. */
export interface Layout {
  /** No rows for an entity without attributes. Throws `VALUE_NOT_STORABLE` for text that no database can store. */
  rows(entity: Entity, arrival: Arrival): readonly Row[];
}

export interface LayoutOptions {
  readonly nativeTypes: boolean;
  readonly metadata: boolean;
  /** Which coordinate of a position of NGSI v2 is x; undefined if geometries have no columns. */
  readonly geometryX?: GeometryX | undefined;
  /** Whether the row layout has a column of geometries. */
  readonly geometryRows?: boolean;
}

/** The columns before those of the attributes; `columnName` converts them to names of the database. */
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

/** The column of geometries in the row layout. */
export const rowGeometryColumn = "attrGeometry";

export function namesOf(columns: readonly string[], naming: ColumnNaming): readonly string[] {
  return columns.map((column) => columnName(column, naming));
}

/** The reception time in the format of each API: ISO 8601, or with a space and without a zone. */
type RecvTime = Readonly<Record<Api, (epochMillis: number) => string>>;

/** Caches the last time: rows of one notification or millisecond share it. */
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

// 2020-05-13, 2020-05-13T10:00:00.123456Z, 2020-05-13 10:00+02:00, 2020-05-13T10:00:00+02
const TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/;
const HOURS_ONLY = /[\d.][+-]\d\d$/;
const TIME_TYPES: ReadonlySet<string> = new Set(["DateTime", "ISO8601", "TemporalProperty"]);
/** The members that NGSI-LD itself gives attributes and whose values are times. */
export const TIME_MEMBERS: ReadonlySet<string> = new Set([
  "observedAt",
  "createdAt",
  "modifiedAt",
  "deletedAt",
  "expiresAt",
]);

/** The cell of an attribute in a text column. */
export function attributeCell(
  attribute: Attribute,
  { api }: Pick<Entity, "api">,
  { nativeTypes }: Pick<LayoutOptions, "nativeTypes">,
): Cell {
  const { form, value } = attribute;
  if (nativeTypes && value.kind === "null") return undefined;
  // A type of NGSI v2 may have the name of one of NGSI-LD, and changes no text.
  const isText = api === "v2" && form === "normalized" && value.kind === "string";
  return isText ? value.text : attributeText(attribute);
}

/** The typed value of an attribute; undefined for none. `plain` is its cell in a text column. */
export function attributeValue(
  attribute: Attribute,
  { api }: Pick<Entity, "api">,
  plain: Cell,
  { geometryX }: Pick<LayoutOptions, "geometryX">,
): NativeValue | undefined {
  const { type = "", form, value } = attribute;
  const geometry = geometryValue(attribute, plain, geometryX);
  if (geometry !== undefined) return geometry;
  const mayBeTime = form === "plain" || TIME_TYPES.has(type);
  if (api === "v2" && value.kind === "string" && !(mayBeTime && isTime(value.text)))
    return jsonOrText(value.text, plain);
  return native(value, plain, mayBeTime);
}

/** The geometry of an attribute; undefined for none. */
export function geometryValue(attribute: Attribute, plain: Cell, x: GeometryX | undefined): NativeValue | undefined {
  if (x === undefined || plain === undefined) return undefined;
  const text = geometryText(attribute, x);
  return text === undefined ? undefined : { kind: "geometry", text, plain };
}

/** The typed value of a member of an NGSI-LD attribute. */
export function memberValue({ name, type = "", value }: Member, plain: Cell): NativeValue | undefined {
  return native(value, plain, TIME_MEMBERS.has(name) || TIME_TYPES.has(type));
}

/** The typed value of a name, or of a text that the sink generated. */
export function textValue(text: Cell): NativeValue | undefined {
  return text === undefined ? undefined : { kind: "text", text, plain: text };
}

/** The typed value of metadata, which columns of text and of JSON keep. */
export function metadataValue(text: Cell): NativeValue | undefined {
  return jsonOrText(text, text);
}

function jsonOrText(text: Cell, plain: Cell): NativeValue | undefined {
  return text === undefined || plain === undefined ? undefined : { kind: "text", text, plain, mayBeJson: true };
}

/** Whether this text is an ISO 8601 time or date, of a day that exists. */
export function isTime(text: string): boolean {
  if (!TIME.test(text)) return false;
  const minutes = HOURS_ONLY.test(text) && text.includes(":") ? ":00" : "";
  return !Number.isNaN(Date.parse(text.replace(" ", "T") + minutes)) && isDay(text.slice(0, "2020-05-13".length));
}

function native({ kind, text }: Value, plain: Cell, mayBeTime: boolean): NativeValue | undefined {
  if (kind === "null" || plain === undefined) return undefined;
  if (kind === "string") return { kind: mayBeTime && isTime(text) ? "time" : "text", text, plain };
  if (kind === "number" || kind === "boolean") return { kind, text, plain };
  return { kind: "json", text, plain };
}

// SQLite truncates text at NUL silently, and a lone surrogate has no UTF-8 encoding: both would be stored changed.
/** Whether no database can store this text. Half as long as a regular expression, and asked for each cell. */
export function isUnstorable(text: string): boolean {
  return text.indexOf("\0") !== -1 || !text.isWellFormed();
}

/** Throws for text that no database can store. */
export function refuseUnstorable(text: Cell, { id }: Entity, column: string | undefined): void {
  if (text === undefined || !isUnstorable(text)) return;
  const message = `storing ${JSON.stringify(column)} of entity ${JSON.stringify(id)}: NUL or half a surrogate pair in it`;
  throw new AgentError("VALUE_NOT_STORABLE", `${message}, which no database keeps`, { retryable: false });
}
