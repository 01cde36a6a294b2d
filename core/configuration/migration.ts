import type { PluginCatalogue } from "../tokens.js";
import { agentNames } from "./agent-sections.js";
import type { Fault } from "./fault.js";
import { type LineEdit, rewritten } from "./line-edits.js";
import { type MigratedComponent, migratedComponents } from "./migrated-components.js";
import { parseProperties } from "./properties.js";
import { readConfiguration } from "./read-configuration.js";
import { secretEdits } from "./secret-edits.js";

export interface SecretVariable {
  readonly variable: string;
  readonly line: number;
}

export interface Migration {
  /** The file in new spelling; comments and order are kept. */
  readonly text: string;
  /** The environment variables that stand for secrets in the text, and the line of the old file with the value. */
  readonly variables: readonly SecretVariable[];
  /** Those whose plugins were found; of each, what its old spelling says about it. */
  readonly components: readonly MigratedComponent[];
  /** What is still wrong with the new file, by agent. */
  readonly faults: readonly Fault[];
}

/**
 * A properties file of a predecessor in new spelling. Lines that nobody reads any more become comments. Secrets stay as
 * they are, or environment variables stand in their place.
 */
export function migration(
  text: string,
  catalogue: PluginCatalogue,
  secrets: "shown" | "as-variables" = "shown",
): Migration {
  const { settings } = parseProperties(text);
  const agents = agentNames(settings);
  const components = agents.flatMap((agent) => migratedComponents(settings, agent, catalogue));
  const edits = new Map<number, LineEdit>(components.flatMap((component) => [...component.edits]));
  const migrated = rewritten(text, edits);
  const surroundings = { env: {}, readFile: unreadable, catalogue };
  const faults = agents.flatMap((agent) => readConfiguration({ text: migrated, agent, ...surroundings }).faults);
  if (secrets === "shown") return { text: migrated, variables: [], components, faults };
  const hidden = secretEdits({ text, settings, components, edits });
  const variables = [...hidden].flatMap(([line, { secret }]) =>
    secret?.variable === undefined ? [] : [{ line, variable: secret.variable }],
  );
  return { text: rewritten(text, new Map([...edits, ...hidden])), variables, components, faults };
}

function unreadable(path: string): never {
  throw new Error(`"${path}" is not read while a file is migrated`);
}
