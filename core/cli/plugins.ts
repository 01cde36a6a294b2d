import type { Command } from "commander";
import { type PluginFlags, pluginLocations } from "../configuration/schema/kernel-settings.js";
import { type CommandContext, exitCodes, type Terminal, withPlugins } from "./command.js";
import { loadPlugins } from "./load.js";
import { tableText } from "./table.js";

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withPlugins(command).action((options: PluginFlags) => exitWith(plugins(options, terminal)));
}

/** `deneb plugins`: lists kind, type and origin of every plugin found. */
async function plugins(flags: PluginFlags, terminal: Terminal): Promise<number> {
  const catalogue = await loadPlugins(pluginLocations(flags, terminal.env), terminal);
  const rows = catalogue
    .list()
    .map(({ definition, origin }) => [
      definition.kind,
      definition.type,
      definition.stability,
      origin,
      definition.summary,
    ]);
  terminal.out(tableText(["kind", "type", "stability", "origin", "summary"], rows));
  return exitCodes.success;
}
