import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { type ConfigurationFault, faultText } from "../configuration/configuration-fault.js";
import { agentNames } from "../configuration/file/agent-sections.js";
import { type DecodedFile, decodeFile } from "../configuration/file/decode.js";
import { parseProperties } from "../configuration/file/properties.js";
import { type Configuration, readConfiguration } from "../configuration/read-configuration.js";
import { declarationRules } from "../configuration/schema/declaration-rules.js";
import type { KernelSettings, PluginLocations } from "../configuration/schema/kernel-settings.js";
import { discover } from "../registry/discover.js";
import type { PluginProblem } from "../registry/load-plugin.js";
import { type GrowingCatalogue, namedPlugins, wholeCatalogue } from "../registry/named-plugins.js";
import { codeOf, reasonOf } from "../sdk/index.js";
import type { CataloguedPlugin, PluginCatalogue } from "../tokens.js";
import type { Terminal } from "./command.js";
import { NamedFiles } from "./named-files.js";

const ownPlugins = new URL("../../plugins", import.meta.url);

/** The file that `npm start` runs. Commands over stored data read it if they are given none. */
export const quickstartFile = fileURLToPath(new URL("../../../config/quickstart.properties", import.meta.url));

/**
 * Finds the plugins that come with the program, those of further folders and those of packages, which are searched
 * for from the working directory and from the folder of the properties file; prints what could not be loaded.
 */
export async function loadPlugins(
  { pluginFolders, pluginPackages }: PluginLocations,
  terminal: Terminal,
  config?: string,
): Promise<PluginCatalogue> {
  const from = [".", ...(config === undefined ? [] : [dirname(config)])];
  const folders = [fileURLToPath(ownPlugins), ...pluginFolders];
  const load = () => discover(folders, { packages: pluginPackages, from, rules: declarationRules });
  const ofOthers = pluginFolders.length + pluginPackages.length > 0;
  const { catalogue, problems } = await (ofOthers ? (terminal.interruptible?.(load) ?? load()) : load());
  printProblems(problems, terminal);
  return catalogue;
}

/**
 * The plugins for an agent that starts: of those of the program at first the ones that its file names, which makes a start
 * shorter. With plugins of others, all are loaded at once.
 */
export async function loadNamedPlugins(
  locations: PluginLocations,
  terminal: Terminal,
  config: string,
): Promise<GrowingCatalogue> {
  const { pluginFolders, pluginPackages } = locations;
  const areOwn = pluginFolders.length + pluginPackages.length === 0;
  const text = areOwn ? textOf(config) : undefined;
  if (text !== undefined) {
    const report = (problems: readonly PluginProblem[]) => printProblems(problems, terminal);
    const folder = fileURLToPath(ownPlugins);
    const named = await namedPlugins({ folder, text, report, rules: declarationRules });
    if (named !== undefined) return named;
  }
  return wholeCatalogue(await loadPlugins(locations, terminal, config));
}

/** Undefined for a file that cannot be read. */
function textOf(config: string): string | undefined {
  try {
    return decodeFile(readFileSync(config)).text;
  } catch {
    return undefined;
  }
}

function printProblems(problems: readonly PluginProblem[], terminal: Terminal): void {
  for (const { origin, cause, remedy } of problems) terminal.err(`plugin "${origin}": ${cause}; ${remedy}`);
}

/** Whether a plugin comes with the program. */
export function isOwnPlugin({ folder }: CataloguedPlugin): boolean {
  return folder === undefined;
}

export interface ConfigurationFile {
  readonly config: string;
  readonly name?: string;
}

/** Where the management interface will listen, and whether secrets may be unset as for a check. */
interface LoadOptions extends Partial<Pick<KernelSettings, "managementHost" | "managementPort">> {
  readonly secretsMayBeUnset?: boolean;
  /** Where it is to be known which files it names. */
  readonly files?: NamedFiles;
}

/** Reads a properties file; a file that cannot be read is a fault. */
export function loadConfiguration(
  file: ConfigurationFile,
  catalogue: PluginCatalogue,
  terminal: Terminal,
  { managementHost: host, managementPort: port, secretsMayBeUnset = false, files = new NamedFiles() }: LoadOptions = {},
): Configuration {
  let decoded: DecodedFile;
  files.begin();
  try {
    decoded = decodeFile(readFileSync(file.config));
  } catch (error) {
    return { topology: undefined, agents: [], faults: [unreadable(file.config, error)] };
  }
  return readConfiguration({
    ...decoded,
    ...(file.name === undefined ? {} : { agent: file.name }),
    env: terminal.env,
    readFile: (path) => files.text(path),
    catalogue,
    secretsMayBeUnset,
    ...(host === undefined || port === undefined ? {} : { management: { host, port } }),
  });
}

/** The agents of a properties file, whatever else is wrong with it, or a text that says why there is none. */
export function agentsIn({ config, name }: ConfigurationFile): readonly string[] | string {
  try {
    const agents = agentNames(parseProperties(decodeFile(readFileSync(config)).text).settings);
    if (agents.length === 0) return `"${config}" holds no sources, channels or sinks of an agent`;
    if (name === undefined) return agents;
    return agents.includes(name) ? [name] : `--name "${name}" is not in "${config}", which holds ${agents.join(", ")}`;
  } catch (error) {
    return faultText(unreadable(config, error));
  }
}

function unreadable(file: string, error: unknown): ConfigurationFault {
  if (codeOf(error) === "NOT_A_TEXT_FILE") {
    return { severity: "error", key: "--config", value: file, reason: `could not be read: ${reasonOf(error)}` };
  }
  const reason = `could not be read (${reasonOf(error)}); give an existing properties file`;
  return { severity: "error", key: "--config", value: file, reason };
}

export function printFaults(faults: readonly ConfigurationFault[], terminal: Terminal): void {
  for (const fault of faults) terminal.err(`${fault.severity}: ${faultText(fault)}`);
}
