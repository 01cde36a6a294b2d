import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

export const timestampSchema = {
  headerName: {
    doc: "Header that gets the time, in milliseconds since 1970 UTC. Kept in lower case.",
    format: "text",
    default: "timestamp",
  },
  preserveExisting: {
    doc: "true keeps a time that is already there, such as the reception time set by the ngsi handler.",
    format: "flag",
    default: false,
  },
} as const satisfies Schema;

export type TimestampConfig = ConfigOf<typeof timestampSchema>;

export function checkTimestamp({ headerName }: TimestampConfig): readonly PropertyFault<typeof timestampSchema>[] {
  if (headerName !== "") return [];
  return [{ property: "headerName", reason: "must be the name of a header, for example timestamp" }];
}
