import type { ConfigOf, PropertyFault, Schema } from "deneb/sdk";

export const nameMappingsSchema = {
  name_mappings_conf_file: {
    doc: "JSON file with the mappings. It may be missing: then nothing is mapped until it exists. The management interface edits it.",
    format: "text",
  },
  reload_interval: {
    doc: "Milliseconds between two checks of the file; when it has changed, it is read again.",
    format: "millis",
    default: 500,
    min: 10,
  },
} as const satisfies Schema;

export type NameMappingsConfig = ConfigOf<typeof nameMappingsSchema>;

export function checkNameMappings({
  name_mappings_conf_file,
}: NameMappingsConfig): readonly PropertyFault<typeof nameMappingsSchema>[] {
  if (name_mappings_conf_file !== "") return [];
  return [{ property: "name_mappings_conf_file", reason: "must be the path of a file" }];
}
