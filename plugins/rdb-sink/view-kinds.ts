import type { Cell, TypedColumn, ViewedNames } from "deneb/sql";

/** The column that the views add: the time of reception. */
export const TIME_COLUMN = "deneb_time";

/** How many values of a column are looked at to find out its kind, and how many characters of each. */
export const SAMPLED_ROWS = 200;
export const SAMPLED_CHARACTERS = 64;

/** What a column of texts is shown as. */
type ShownKind = "number" | "time" | "boolean" | "text";

/** The part of the texts that must fit a type: a sensor that says "broken" once does not make its column text. */
const MOST_FIT = 0.9;

// For databases too: without backslashes, which some read as escapes.
const NUMBER = "^-?(0|[1-9][0-9]{0,99})([.][0-9]{1,99})?([eE][+-]?[0-9]{1,2})?$";
const LEAP = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)-02-29";
const DAY = `((?!0000)[0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|${LEAP})`;
const CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,9})?)?";

/** Regular expressions for texts that every database can convert. */
export const fitting = {
  number: "^-?[0-9]{1,100}([.][0-9]{1,99})?([eE][+-]?[0-9]{1,2})?$",
  /** A time without a zone, up to where a zone may stand. */
  time: `^${DAY}[T ]${CLOCK}`,
  zone: "(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)$",
} as const;

const kinds = [
  ["number", new RegExp(NUMBER)],
  ["time", new RegExp(`${fitting.time}(${fitting.zone}|$)`)],
  ["boolean", /^(true|false)$/],
] as const;

/** The kind that most of these texts have. */
export function kindOf(texts: readonly Cell[]): ShownKind {
  const isAny = texts.some((text) => !isEmpty(text));
  return isAny ? (kinds.find(([kind]) => fitOf(texts, kind) >= MOST_FIT)?.[0] ?? "text") : "text";
}

/** Whether at least half of these texts are shown as this kind. */
export function staysKind(texts: readonly Cell[], kind: ShownKind): boolean {
  return fitOf(texts, kind) >= 0.5;
}

/** The part of these texts that fits. */
function fitOf(texts: readonly Cell[], kind: ShownKind): number {
  const all = texts.filter((text) => !isEmpty(text));
  const pattern = kinds.find(([own]) => own === kind)?.[1];
  if (all.length === 0 || pattern === undefined) return 1;
  return all.filter((text) => pattern.test(text ?? "")).length / all.length;
}

function isEmpty(text: Cell): boolean {
  return text === undefined || text === "" || text === "null";
}

/** The columns that hold attributes; metadata stand beside their attribute. `keyOf` joins the spellings of a name. */
export function attributesOf(
  columns: readonly TypedColumn[],
  { fixed }: ViewedNames,
  keyOf: (name: string) => string,
): readonly TypedColumn[] {
  const own = new Set(columns.map(({ name }) => keyOf(name)));
  const others = new Set([...fixed].map(keyOf));
  return columns.filter(({ name }) => {
    const key = keyOf(name);
    return !others.has(key) && !(key.endsWith("_md") && own.has(key.slice(0, -3)));
  });
}
