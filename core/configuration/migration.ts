import type { PluginCatalogue } from "../tokens.js";
import { agentNames } from "./agent-sections.js";
import type { Fault } from "./fault.js";
import { type LineEdit, rewritten } from "./line-edits.js";
import { type MigratedComponent, migratedComponents } from "./migrated-components.js";
import { parseProperties } from "./properties.js";
import { readConfiguration } from "./read-configuration.js";

export interface Migration {
  /** The file in new spelling; comments and order are kept. */
  readonly text: string;
  /** Those whose plugins were found; of each, what its old spelling says about it. */
  readonly components: readonly MigratedComponent[];
  /** What is still wrong with the new file, by agent. */
  readonly faults: readonly Fault[];
}

/** A properties file of a predecessor in new spelling. Lines that nobody reads any more become comments. */
export function migration(text: string, catalogue: PluginCatalogue): Migration {
  const { settings } = parseProperties(text);
  const agents = agentNames(settings);
  const components = agents.flatMap((agent) => migratedComponents(settings, agent, catalogue));
  const edits = new Map<number, LineEdit>(components.flatMap((component) => [...component.edits]));
  const migrated = rewritten(text, edits);
  const surroundings = { env: {}, readFile: unreadable, catalogue };
  const faults = agents.flatMap((agent) => readConfiguration({ text: migrated, agent, ...surroundings }).faults);
  return { text: migrated, components, faults };
}

function unreadable(path: string): never {
  throw new Error(`"${path}" is not read while a file is migrated`);
}
