import { readFileSync } from "node:fs";
import { faultText } from "../configuration/configuration-fault.js";
import type { MigratedComponent } from "../configuration/migration/migrated-components.js";
import { migration } from "../configuration/migration/migration.js";
import { pluginLocations } from "../configuration/schema/kernel-settings.js";
import { reasonOf } from "../sdk/index.js";
import { loadPlugins } from "./load.js";
import { exitCodes, type Terminal } from "./terminal.js";

export interface MigrateOptions {
  readonly config: string;
  readonly plugins?: readonly string[];
  readonly pluginPackages?: readonly string[];
  /** Passwords and tokens are printed as the old file holds them. */
  readonly withSecrets?: boolean;
}

/** `deneb migrate`: prints a file of the original in new spelling, and tells what is better, different or missing. */
export async function migrate(
  { config, plugins = [], pluginPackages = [], withSecrets = false }: MigrateOptions,
  terminal: Terminal,
): Promise<number> {
  let old: string;
  try {
    old = readFileSync(config, "utf8");
  } catch (error) {
    terminal.err(`migrating "${config}": it cannot be read (${reasonOf(error)}); give an existing properties file`);
    return exitCodes.badInput;
  }
  const places = pluginLocations({ pluginFolders: plugins, pluginPackages }, terminal.env);
  const catalogue = await loadPlugins(places, terminal, config);
  const { text, variables, components, faults } = migration(old, catalogue, withSecrets ? "shown" : "as-variables");
  terminal.out(text.trimEnd());
  for (const { variable, line } of variables) {
    terminal.err(`secret: set ${variable} to the value of line ${line}, or print the value with --with-secrets`);
  }
  for (const line of remarks(components)) terminal.err(line);
  for (const fault of faults)
    terminal.err(`${fault.severity === "error" ? "not supported" : "check"}: ${faultText(fault)}`);
  return exitCodes.success;
}

/** Each remark once, those about what is better first. */
function remarks(components: readonly MigratedComponent[]): readonly string[] {
  const told = (word: string, textsOf: (component: MigratedComponent) => readonly string[]) =>
    components.flatMap((component) =>
      textsOf(component).map((text) => `${word}: ${component.definition.kind} ${component.definition.type}: ${text}`),
    );
  return [
    ...new Set([
      ...told("better", ({ spelling }) => spelling?.better ?? []),
      ...told("different", ({ spelling }) => spelling?.different ?? []),
      ...told("not supported", ({ edits }) =>
        edits.flatMap(([line, { dropped }]) => (dropped === undefined ? [] : [`line ${line}: ${dropped}`])),
      ),
    ]),
  ];
}
