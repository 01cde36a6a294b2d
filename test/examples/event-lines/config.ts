import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

export const eventLinesSchema = {
  file: { doc: "File that gets the lines. Its folder must exist.", format: "text" },
} as const satisfies Schema;

export type EventLinesConfig = ConfigOf<typeof eventLinesSchema>;

/** What the format of a property cannot check. */
export function checkEventLines({ file }: EventLinesConfig): readonly PropertyFault<typeof eventLinesSchema>[] {
  return file.endsWith("/") ? [{ property: "file", reason: "must be the path of a file, not of a folder" }] : [];
}
