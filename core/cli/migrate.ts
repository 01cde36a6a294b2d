import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { faultText } from "../configuration/configuration-fault.js";
import type { MigratedComponent } from "../configuration/migration/migrated-components.js";
import { migration } from "../configuration/migration/migration.js";
import { type PluginFlags, pluginLocations } from "../configuration/schema/kernel-settings.js";
import { reasonOf } from "../sdk/index.js";
import { type CommandContext, withPlugins } from "./command.js";
import { loadPlugins } from "./load.js";
import { exitCodes, type Terminal } from "./terminal.js";

export interface MigrateOptions extends PluginFlags {
  readonly config: string;
  /** Passwords and tokens are printed unchanged. */
  readonly withSecrets?: boolean;
}

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withPlugins(command)
    .requiredOption("-f, --config <file>", "properties file of FIWARE Cygnus")
    .option("--with-secrets", "print passwords and tokens instead of references to environment variables")
    .action((options: MigrateOptions) => exitWith(migrate(options, terminal)));
}

/** `deneb migrate`: prints a file of Cygnus in the spelling of Deneb, and reports what is better, different or missing. */
export async function migrate(options: MigrateOptions, terminal: Terminal): Promise<number> {
  const { config, withSecrets = false } = options;
  let old: string;
  try {
    old = readFileSync(config, "utf8");
  } catch (error) {
    terminal.err(`migrating "${config}": it cannot be read (${reasonOf(error)}); give an existing properties file`);
    return exitCodes.badInput;
  }
  const catalogue = await loadPlugins(pluginLocations(options, terminal.env), terminal, config);
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
  const listed = (word: string, textsOf: (component: MigratedComponent) => readonly string[]) =>
    components.flatMap((component) =>
      textsOf(component).map((text) => `${word}: ${component.definition.kind} ${component.definition.type}: ${text}`),
    );
  return [
    ...new Set([
      ...listed("better", ({ spelling }) => spelling?.better ?? []),
      ...listed("different", ({ spelling }) => spelling?.different ?? []),
      ...listed("not supported", ({ edits }) =>
        edits.flatMap(([line, { dropped }]) => (dropped === undefined ? [] : [`line ${line}: ${dropped}`])),
      ),
    ]),
  ];
}
