import { existsSync } from "node:fs";
import type { Command } from "commander";
import { warningAt } from "../configuration/configuration-fault.js";
import type { Configuration } from "../configuration/read-configuration.js";
import {
  type KernelFlags,
  type KernelSettings,
  kernelNames,
  readKernelSettings,
} from "../configuration/schema/kernel-settings.js";
import { topologyOfWorker, workerFaults } from "../configuration/topology/workers.js";
import type { Logging } from "../logging/logging.js";
import { withLogging } from "./agent-logging.js";
import {
  type CommandContext,
  exitCodes,
  type Terminal,
  withConfiguration,
  withPlugins,
  withSettings,
} from "./command.js";
import { warnOfOwner, withDataDir } from "./data-dir.js";
import { type ConfigurationFile, loadConfiguration, loadNamedPlugins, printFaults } from "./load.js";
import { NamedFiles } from "./named-files.js";
import { startTextOf } from "./reload-on-change.js";
import { serve } from "./serve.js";
import { smallMemory } from "./small-memory.js";
import { StartFindings } from "./start-findings.js";
import { leftBeyond } from "./workers/folders.js";
import { withLaterWorkers, withWorkers } from "./workers/number-of-workers.js";
import type { WorkerRole } from "./workers/role.js";

interface RunOptions extends ConfigurationFile, KernelFlags {}

export function define(command: Command, { terminal, version, exitWith }: CommandContext): void {
  withSettings(withPlugins(withConfiguration(command)), kernelNames).action((options: RunOptions) =>
    exitWith(run(options, version, terminal)),
  );
}

/** `deneb run`: starts the agent of a properties file and runs it until a stop is requested. */
async function run(options: RunOptions, version: string, terminal: Terminal): Promise<number> {
  const { settings: given, faults } = readKernelSettings(options, terminal.env);
  const unfit = given === undefined ? undefined : plugNPlayFault();
  if (given === undefined || unfit !== undefined) {
    printFaults(faults, terminal);
    if (unfit !== undefined) terminal.err(`error: ${unfit}`);
    return given === undefined ? exitCodes.badInput : exitCodes.failure;
  }
  const findings = new StartFindings();
  for (const fault of faults) findings.add(fault);
  try {
    return await runWith({ options, given, version, findings }, terminal);
  } finally {
    findings.print(terminal);
  }
}

interface Given {
  readonly options: RunOptions;
  readonly given: KernelSettings;
  readonly version: string;
  readonly findings: StartFindings;
}

async function runWith({ options, given, version, findings }: Given, terminal: Terminal): Promise<number> {
  const role = terminal.worker?.role;
  if (role === undefined && isTooSmall(findings, terminal)) return exitCodes.failure;
  const own = role === undefined ? given : { ...given, dataDir: role.dataDir };
  warnOfFolder(own, findings);
  if (role === undefined) warnOfOwner(own.dataDir, findings);
  const catalogue = await loadNamedPlugins(own, terminal, options.config);
  const files = new NamedFiles();
  const read = (noting?: NamedFiles) =>
    ofWorker(
      loadConfiguration(options, catalogue, terminal, { ...own, ...(noting === undefined ? {} : { files: noting }) }),
      role,
    );
  const startText = startTextOf(options.config);
  let configuration = read(files);
  if (catalogue.lacks || configuration.topology === undefined) {
    await catalogue.complete();
    configuration = read(files);
  }
  for (const fault of configuration.faults) findings.add(fault, options.config);
  if (configuration.topology === undefined) return exitCodes.badInput;
  // The supervisor has read the same file, and its log has them once for all workers.
  if (role !== undefined) findings.forget();
  const { topology } = configuration;
  const settings = withWorkers(own, topology, { options, env: terminal.env });
  terminal.endsInOrder?.();
  const left = role === undefined ? await leftBeyond(settings.dataDir, settings.workers) : [];
  if (role === undefined && settings.workers + left.length > 1) {
    const { supervise } = await import("./workers/supervise.js");
    return await supervise({ topology, settings, version, options, left, findings }, terminal);
  }
  // Log files may be in the data directory, so it is locked first.
  const readAgain = (noting?: NamedFiles) => withLaterWorkers(read(noting), topology);
  const checked = { topology, settings, version, read: readAgain, catalogue, file: options.config, startText, files };
  const serving = (logging: Logging) => serve({ ...checked, logging }, terminal);
  return await withDataDir({ ...settings, runs: options.config }, terminal, () =>
    withLogging({ agent: topology.agent, settings, options, findings }, terminal, serving),
  );
}

function isTooSmall(findings: StartFindings, terminal: Terminal): boolean {
  const small = smallMemory();
  if (small?.level === "warning") findings.warn(small.text, "the memory is small for an agent");
  if (small?.level === "error") terminal.err(`error: ${small.text}`);
  return small?.level === "error";
}

function ofWorker(configuration: Configuration, role: WorkerRole | undefined): Configuration {
  const { topology } = configuration;
  if (topology === undefined || role === undefined) return configuration;
  const faults = workerFaults(topology, role.of);
  if (faults.length > 0) return { ...configuration, topology: undefined, faults: [...configuration.faults, ...faults] };
  return { ...configuration, topology: topologyOfWorker(topology, role) };
}

/** Requests would find nothing there, and it may be created later. */
function warnOfFolder({ managementConfigurationFolder: value }: KernelSettings, findings: StartFindings): void {
  if (value === "" || existsSync(value)) return;
  const reason = "there is no such folder; create it, or correct the name";
  findings.add(warningAt({ key: "--management-configuration-folder", value }, reason));
}

/** What is wrong where packages are read from archives; undefined elsewhere. */
function plugNPlayFault(): string | undefined {
  if (process.versions["pnp"] === undefined) return undefined;
  return (
    "Yarn Plug'n'Play is in this process, and takes calls for files from Node that channels need; " +
    'set "nodeLinker: node-modules" in .yarnrc.yml and install again'
  );
}
