import { readNameMappingsFile } from "../../ngsi/mappings/document.js";
import { type ConfigurationFault, type Environment, warningAt } from "../configuration-fault.js";
import type { ComponentNode } from "../topology.js";
import type { SinkReading } from "./read-sink.js";
import type { SourceReading } from "./read-source.js";

const TYPE = "name-mappings";
const SWITCH = "enable_name_mappings";

/** A warning for each interceptor whose file has mappings, of names which no sink behind it stores. */
export function unusedMappings(
  sources: readonly SourceReading[],
  sinks: readonly SinkReading[],
  environment: Environment,
): readonly ConfigurationFault[] {
  return sources.flatMap(({ value, link, locationOf }) => {
    const behind = sinks.filter((sink) => sink.link.channels?.some((channel) => link.channels?.includes(channel)));
    if (behind.length === 0 || behind.some((sink) => sink.value?.config[SWITCH] !== false)) return [];
    const mapping = (value?.interceptors ?? []).filter((one) => hasMappings(one, environment));
    const reason = `has no effect: no sink behind it has ${SWITCH} = true; set it for those that are to store the mapped names`;
    return mapping.map(({ name }) => warningAt(locationOf(`interceptors.${name}.type`), reason));
  });
}

/** Files of the predecessor name the interceptor whether they map names or not. */
function hasMappings({ definition, config }: ComponentNode, { readFile }: Environment): boolean {
  const file = config["name_mappings_conf_file"];
  if (definition.type !== TYPE || typeof file !== "string") return false;
  try {
    return readNameMappingsFile(readFile(file)).mappings.length > 0;
  } catch {
    // It may be made later, and the interceptor says what is wrong with it.
    return false;
  }
}
