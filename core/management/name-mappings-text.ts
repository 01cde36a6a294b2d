import type { Topology } from "../configuration/topology.js";
import { type EditedText, editedFile, editedMemory } from "../files/edited-text.js";

/** Where the name mappings of an agent are kept: in the file of its first name-mappings interceptor, else in memory. */
export function nameMappingsText({ sources }: Topology): EditedText {
  const interceptors = sources.flatMap((source) => source.interceptors);
  const reader = interceptors.find(({ definition }) => definition.type === "name-mappings");
  const file = reader?.config["name_mappings_conf_file"];
  return typeof file === "string" ? editedFile(file) : editedMemory();
}
