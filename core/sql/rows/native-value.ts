import type { Attribute, Member, Value } from "../../ngsi/index.js";
import type { NativeValue } from "../contract/column.js";
import type { Cell } from "../contract/statement.js";

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
export function isTime(text: string): boolean {
  return TIME.test(text) && !Number.isNaN(Date.parse(text.replace(" ", "T")));
}

function native({ kind, text }: Value, plain: Cell, mayBeTime: boolean): NativeValue | undefined {
  if (kind === "null" || plain === undefined) return undefined;
  if (kind === "string") return { kind: mayBeTime && isTime(text) ? "time" : "text", text, plain };
  if (kind === "number" || kind === "boolean") return { kind, text, plain };
  return { kind: "json", text, plain };
}
