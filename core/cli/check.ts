import type { Command } from "commander";
import { type KernelFlags, pluginLocations, readKernelSettings } from "../configuration/schema/kernel-settings.js";
import { type CommandContext, withConfiguration, withPlugins, withSettings } from "./command.js";
import { type ConfigurationFile, loadConfiguration, loadPlugins, printFaults } from "./load.js";
import { exitCodes, type Terminal } from "./terminal.js";

export interface CheckOptions extends ConfigurationFile, KernelFlags {}

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withSettings(withPlugins(withConfiguration(command)), ["managementPort", "managementHost"]).action(
    (options: CheckOptions) => exitWith(check(options, terminal)),
  );
}

/** `deneb check`: reports the faults of a properties file and of the kernel settings; an error or a warning fails it. */
export async function check(options: CheckOptions, terminal: Terminal): Promise<number> {
  const catalogue = await loadPlugins(pluginLocations(options, terminal.env), terminal, options.config);
  const { settings, faults: ofSettings } = readKernelSettings(options, terminal.env);
  const { faults: ofFile, agents, topology } = loadConfiguration(options, catalogue, terminal, settings);
  const faults = [...ofSettings, ...ofFile];
  printFaults(faults, terminal);
  const counted = faults.filter(({ severity }) => severity !== "notice");
  if (counted.length > 0 || topology === undefined) {
    terminal.err(`${options.config}: ${counted.length} ${counted.length === 1 ? "fault" : "faults"}`);
    return exitCodes.badInput;
  }
  const { agent, sources, channels, sinks } = topology;
  const counts = `${sources.length} source(s), ${channels.length} channel(s), ${sinks.length} sink(s)`;
  terminal.out(`${options.config}: agent "${agent}" is valid: ${counts}${others(agents)}`);
  return exitCodes.success;
}

function others(agents: readonly string[]): string {
  return agents.length > 1 ? `; agents in the file: ${agents.join(", ")}` : "";
}
