import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { type ConfigurationFault, faultText, startable } from "../configuration/configuration-fault.js";
import { decodeFile } from "../configuration/file/decode.js";
import type { MigratedComponent } from "../configuration/migration/migrated-components.js";
import { migration } from "../configuration/migration/migration.js";
import { type PluginFlags, pluginLocations, readKernelSettings } from "../configuration/schema/kernel-settings.js";
import { codeOf, reasonOf } from "../sdk/index.js";
import { type CommandContext, exitCodes, type Terminal, withPlugins } from "./command.js";
import { loadPlugins } from "./load.js";

interface MigrateOptions extends PluginFlags {
  readonly config: string;
  /** Passwords and tokens are printed unchanged. */
  readonly withSecrets?: boolean;
}

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withPlugins(command)
    .requiredOption("-f, --config <file>", "properties file of FIWARE Cygnus")
    .option("--with-secrets", "print passwords and tokens instead of references to environment variables")
    .addHelpText("after", exitCodeHelp)
    .action((options: MigrateOptions) => exitWith(migrate(options, terminal)));
}

const exitCodeHelp = `
Exit codes:
  0  the printed file does what the old one did, apart from what is reported as better or different
  2  the old file cannot be read
  5  something that the old file used was left out, or has to be changed before the printed file starts`;

/** `deneb migrate`: prints a file of Cygnus in the spelling of Deneb, and reports what is better, different or missing. */
export async function migrate(options: MigrateOptions, terminal: Terminal): Promise<number> {
  const { config, withSecrets = false } = options;
  let old: string;
  try {
    const { text, latin1 = text } = decodeFile(readFileSync(config));
    old = latin1;
  } catch (error) {
    const isBinary = codeOf(error) === "NOT_A_TEXT_FILE";
    const fault = isBinary
      ? reasonOf(error)
      : `it cannot be read (${reasonOf(error)}); give an existing properties file`;
    terminal.err(`migrating "${config}": ${fault}`);
    return exitCodes.badInput;
  }
  const catalogue = await loadPlugins(pluginLocations(options, terminal.env), terminal, config);
  const { settings: kernel } = readKernelSettings({}, terminal.env);
  const migrated = migration(old, catalogue, {
    secrets: withSecrets ? "shown" : "as-variables",
    ...(kernel === undefined ? {} : { management: { host: kernel.managementHost, port: kernel.managementPort } }),
  });
  const { text, variables, components, faults, isLossy } = migrated;
  terminal.out(text.trimEnd());
  for (const { variable, line } of variables) {
    terminal.err(`secret: set ${variable} to the value of line ${line}, or print the value with --with-secrets`);
  }
  for (const line of remarks(components)) terminal.err(line);
  for (const fault of faults) terminal.err(`${severityOf(fault)}: ${faultText(fault)}`);
  return isLossy || !startable(faults) ? exitCodes.leftOut : exitCodes.success;
}

/** What is left out needs attention; what the old agent ignored too does not. */
function severityOf({ severity, unread }: ConfigurationFault): string {
  return unread === "here-only" ? "left out" : severity;
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
    ]),
  ];
}
