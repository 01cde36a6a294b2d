import { type Api, type ColumnNaming, columnName, isoTime } from "../../ngsi/index.js";

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
export type RecvTime = Readonly<Record<Api, (epochMillis: number) => string>>;

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
