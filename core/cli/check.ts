import type { Command } from "commander";
import type { Finding } from "../agent/examination/probe-runs.js";
import { type ConfigurationFault, errorAt, startable } from "../configuration/configuration-fault.js";
import {
  type KernelFlags,
  kernelNames,
  pluginLocations,
  readKernelSettings,
} from "../configuration/schema/kernel-settings.js";
import { workerFaults } from "../configuration/topology/workers.js";
import { nodesOf, type Topology } from "../configuration/topology.js";
import { counted } from "../sdk/counted.js";
import type { PluginCatalogue } from "../tokens.js";
import { connectFindings, findingCounts, printFindings } from "./check-connect.js";
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
import { withWorkers } from "./workers/number-of-workers.js";

interface CheckOptions extends ConfigurationFile, KernelFlags {
  readonly connect?: boolean;
  readonly json?: boolean;
  /** Seconds, as text. */
  readonly probeTimeout?: string;
}

export function define(command: Command, { terminal, exitWith }: CommandContext): void {
  withSettings(withPlugins(withConfiguration(command)), kernelNames)
    .option("--connect", "also try what the agent needs: databases, brokers, ports, folders, certificates")
    .option("--probe-timeout <seconds>", `seconds that each of these probes may take (default: ${PROBE_SECONDS})`)
    .option("--json", "print faults and findings as one JSON object")
    .addHelpText("after", exitCodeHelp)
    .action((options: CheckOptions) => exitWith(check(options, terminal)));
}

const exitCodeHelp = `
Exit codes:
  0  the agent can start; there may be warnings
  2  the file or the kernel settings have errors; nothing was tried
  6  with --connect: something that the agent needs cannot be used`;

const PROBE_SECONDS = 10;

/**
 * `deneb check`: reports the faults of a properties file and of the kernel settings; an error fails it. With `--connect` it then
 * tries what the agent needs, with the secrets that `run` would have.
 */
export async function check(options: CheckOptions, terminal: Terminal): Promise<number> {
  const { json = false, connect = false } = options;
  const catalogue = await loadPlugins(pluginLocations(options, terminal.env), terminal, options.config);
  const { settings, faults: ofSettings } = readKernelSettings(options, terminal.env);
  const read = loadConfiguration(options, catalogue, terminal, { ...settings, secretsMayBeUnset: !connect });
  const seconds = probeSeconds(options);
  const asked = settings && read.topology && withWorkers(settings, read.topology, { options, env: terminal.env });
  const ofWorkers = asked && read.topology && asked.workers > 1 ? workerFaults(read.topology, asked.workers) : [];
  const faults = [...ofSettings, ...(typeof seconds === "number" ? [] : [seconds]), ...read.faults, ...ofWorkers];
  const topology = startable(faults) ? read.topology : undefined;
  const tried =
    connect && topology !== undefined && settings !== undefined && typeof seconds === "number"
      ? { topology, settings, config: options.config, probeSeconds: seconds }
      : undefined;
  const findings = tried === undefined ? [] : await connectFindings(tried);
  const checked = { config: options.config, agents: read.agents, topology, faults, findings };
  if (json) terminal.out(jsonText(checked));
  else printChecked(checked, catalogue, terminal);
  if (topology === undefined) return exitCodes.badInput;
  return works(checked) ? exitCodes.success : exitCodes.notUsable;
}

interface Checked {
  readonly config: string;
  /** All of the file. */
  readonly agents: readonly string[];
  /** Undefined when there are errors. */
  readonly topology: Topology | undefined;
  readonly faults: readonly ConfigurationFault[];
  readonly findings: readonly Finding[];
}

function works({ findings, topology }: Checked): boolean {
  return topology !== undefined && findings.every(({ outcome }) => outcome !== "failed");
}

function jsonText(checked: Checked): string {
  const { config, topology, faults, findings } = checked;
  return JSON.stringify({ config, agent: topology?.agent, ok: works(checked), faults, findings });
}

function printChecked(checked: Checked, catalogue: PluginCatalogue, terminal: Terminal): void {
  const { config, agents, topology, faults, findings } = checked;
  printFaults(faults, terminal);
  const counts = [countOf("error", faults), countOf("warning", faults)].filter((text) => text !== "").join(", ");
  const remarks = [counts, findingCounts(findings)].filter((text) => text !== "").join("; ");
  if (topology === undefined) {
    terminal.err(`${config}: ${remarks}`);
    return;
  }
  for (const line of permissionLines(topology, catalogue)) terminal.out(line);
  printFindings(findings, terminal);
  const { agent, sources, channels, sinks } = topology;
  const parts = `${sources.length} source(s), ${channels.length} channel(s), ${sinks.length} sink(s)`;
  const noted = remarks === "" ? "" : `; ${remarks}`;
  if (works(checked)) terminal.out(`${config}: agent "${agent}" is valid: ${parts}${noted}${others(agents)}`);
  else terminal.err(`${config}: agent "${agent}" could not work: ${remarks}`);
}

function probeSeconds({ probeTimeout }: CheckOptions): number | ConfigurationFault {
  if (probeTimeout === undefined) return PROBE_SECONDS;
  const seconds = Number(probeTimeout);
  if (/^\d+$/.test(probeTimeout) && seconds >= 1 && seconds <= MOST_PROBE_SECONDS) return seconds;
  const location = { key: "--probe-timeout", value: probeTimeout };
  return errorAt(location, `must be a whole number of seconds, 1 to ${MOST_PROBE_SECONDS}`);
}

const MOST_PROBE_SECONDS = 3600;

/** What the plugins of others that the file uses declare to use outside the agent, each once. */
function permissionLines(topology: Topology, catalogue: PluginCatalogue): readonly string[] {
  const used = new Set(nodesOf(topology).map(({ definition }) => definition));
  return catalogue
    .list()
    .filter((plugin) => used.has(plugin.definition) && !isOwnPlugin(plugin))
    .map(
      ({ definition: { kind, type, permissions } }) =>
        `permissions of ${kind} ${type}: ${permissionsText(permissions)}`,
    );
}

function countOf(severity: "error" | "warning", faults: readonly ConfigurationFault[]): string {
  const number = faults.filter((fault) => fault.severity === severity).length;
  return number === 0 ? "" : counted(number, severity);
}

function others(agents: readonly string[]): string {
  return agents.length > 1 ? `; agents in the file: ${agents.join(", ")}` : "";
}
