import type { Command } from "commander";
import { type ConfigurationFault, startable } from "../configuration/configuration-fault.js";
import { type KernelFlags, pluginLocations, readKernelSettings } from "../configuration/schema/kernel-settings.js";
import type { ComponentNode, Topology } from "../configuration/topology.js";
import type { PluginCatalogue } from "../tokens.js";
import {
  type CommandContext,
  exitCodes,
  type Terminal,
  withConfiguration,
  withPlugins,
  withSettings,
} from "./command.js";
import { type ConfigurationFile, isOwnPlugin, loadConfiguration, loadPlugins, printFaults } from "./load.js";
import { permissionsText } from "./plugins.js";

export interface CheckOptions extends ConfigurationFile, KernelFlags {}

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withSettings(withPlugins(withConfiguration(command)), ["managementPort", "managementHost"])
    .addHelpText("after", exitCodeHelp)
    .action((options: CheckOptions) => exitWith(check(options, terminal)));
}

const exitCodeHelp = `
Exit codes:
  0  the agent can start; there may be warnings
  2  the file or the kernel settings have errors`;

/** `deneb check`: reports the faults of a properties file and of the kernel settings; an error fails it. */
export async function check(options: CheckOptions, terminal: Terminal): Promise<number> {
  const catalogue = await loadPlugins(pluginLocations(options, terminal.env), terminal, options.config);
  const { settings, faults: ofSettings } = readKernelSettings(options, terminal.env);
  const {
    faults: ofFile,
    agents,
    topology,
  } = loadConfiguration(options, catalogue, terminal, {
    ...settings,
    secretsMayBeUnset: true,
  });
  const faults = [...ofSettings, ...ofFile];
  printFaults(faults, terminal);
  const numbers = [counted("error", faults), counted("warning", faults)].filter((text) => text !== "").join(", ");
  if (!startable(faults) || topology === undefined) {
    terminal.err(`${options.config}: ${numbers}`);
    return exitCodes.badInput;
  }
  for (const line of permissionLines(topology, catalogue)) terminal.out(line);
  const { agent, sources, channels, sinks } = topology;
  const counts = `${sources.length} source(s), ${channels.length} channel(s), ${sinks.length} sink(s)`;
  const remarks = numbers === "" ? "" : `; ${numbers}`;
  terminal.out(`${options.config}: agent "${agent}" is valid: ${counts}${remarks}${others(agents)}`);
  return exitCodes.success;
}

/** What the plugins of others that the file uses declare to use outside the agent, each once. */
function permissionLines(
  { sources, channels, sinks, groups = [] }: Topology,
  catalogue: PluginCatalogue,
): readonly string[] {
  const nested = (node: ComponentNode): readonly ComponentNode[] => [
    node,
    ...Object.values(node.slots).flatMap(nested),
  ];
  const nodes: readonly ComponentNode[] = [
    ...sources.flatMap((source) => [source, ...source.interceptors, source.selector]),
    ...channels,
    ...sinks,
    ...groups.map(({ processor }) => processor),
  ];
  const used = new Set(nodes.flatMap(nested).map(({ definition }) => definition));
  return catalogue
    .list()
    .filter((plugin) => used.has(plugin.definition) && !isOwnPlugin(plugin))
    .map(({ definition: { kind, type, permissions } }) => `${kind} ${type}: ${permissionsText(permissions)}`);
}

function counted(severity: "error" | "warning", faults: readonly ConfigurationFault[]): string {
  const number = faults.filter((fault) => fault.severity === severity).length;
  return number === 0 ? "" : `${number} ${severity}${number === 1 ? "" : "s"}`;
}

function others(agents: readonly string[]): string {
  return agents.length > 1 ? `; agents in the file: ${agents.join(", ")}` : "";
}
