import { type Api, type ColumnNaming, columnName, isoTime } from "deneb/ngsi";

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
export const recvTime = {
  ld: isoTime,
  v2: (epochMillis: number) => isoTime(epochMillis).replace("T", " ").replace("Z", ""),
} as const satisfies Record<Api, (epochMillis: number) => string>;
