import type { Command } from "commander";
import { type PluginFlags, pluginLocations } from "../configuration/schema/kernel-settings.js";
import { apiRange } from "../sdk/api-versions.js";
import type { Permissions } from "../sdk/index.js";
import { permittedProperty } from "../sdk/permissions.js";
import type { CataloguedPlugin } from "../tokens.js";
import { type CommandContext, exitCodes, type Terminal, withPlugins } from "./command.js";
import { isOwnPlugin, loadPlugins } from "./load.js";
import { reportText } from "./plugin-report.js";
import { defineSearch } from "./plugins-search.js";
import { tableText } from "./table.js";

export function define(command: Command, context: CommandContext): void {
  const { terminal, exitWith } = context;
  withPlugins(command).action((options: PluginFlags) => exitWith(plugins(options, terminal)));
  defineSearch(command, context);
}

/** `deneb plugins`: lists kind, type and origin of every plugin found, and what those of others declare. */
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
  for (const plugin of catalogue.list().filter((one) => !isOwnPlugin(one))) {
    for (const line of await facts(plugin)) terminal.out(line);
  }
  return exitCodes.success;
}

async function facts({ definition, folder }: CataloguedPlugin): Promise<readonly string[]> {
  const { kind, type, apiVersion, permissions } = definition;
  const [oldest, newest] = apiRange(apiVersion) ?? [];
  const report = folder === undefined ? undefined : await reportText(folder, kind, type);
  return [
    `${kind} ${type}`,
    `  made for: ${oldest === newest ? `version ${oldest}` : `versions ${oldest} to ${newest}`} of deneb/sdk`,
    `  tested: ${report ?? "its package has no report of deneb plugin test"}`,
    `  permissions: ${permissionsText(permissions)}`,
  ];
}

/** The permissions that a plugin declares, for people. */
export function permissionsText(permissions: Permissions | undefined): string {
  if (permissions === undefined) return "it declares none; it may do what the agent may";
  const { hosts, folders, childProcesses } = permissions;
  return `${listed("hosts", hosts)}; ${listed("folders", folders)}; ${childProcesses ? "starts" : "no"} other programs`;
}

function listed(noun: string, entries: readonly string[]): string {
  const texts = entries.map((entry) => {
    const property = permittedProperty(entry);
    return property === undefined ? entry : `what "${property}" says`;
  });
  return texts.length === 0 ? `no ${noun}` : `${noun}: ${texts.join(", ")}`;
}
