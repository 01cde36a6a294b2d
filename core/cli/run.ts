import type { Command } from "commander";
import type { Configuration } from "../configuration/read-configuration.js";
import { type KernelFlags, kernelNames, readKernelSettings } from "../configuration/schema/kernel-settings.js";
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
import { warnOfFolder, warnOfOwner, withDataDir } from "./data-dir.js";
import { type ConfigurationFile, loadConfiguration, loadNamedPlugins, printFaults } from "./load.js";
import { NamedFiles } from "./named-files.js";
import { plugNPlayFault } from "./plug-n-play.js";
import { startTextOf } from "./reload-on-change.js";
import { serve } from "./serve.js";
import { smallMemory } from "./small-memory.js";
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
  printFaults(faults, terminal);
  if (given === undefined) return exitCodes.badInput;
  const role = terminal.worker?.role;
  const small = role === undefined ? smallMemory() : undefined;
  if (small !== undefined) terminal.err(`${small.level}: ${small.text}`);
  const unfit = plugNPlayFault();
  if (unfit !== undefined) terminal.err(`error: ${unfit}`);
  if (small?.level === "error" || unfit !== undefined) return exitCodes.failure;
  const own = role === undefined ? given : { ...given, dataDir: role.dataDir };
  warnOfFolder(own, terminal);
  if (role === undefined) warnOfOwner(own.dataDir, terminal);
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
  printFaults(configuration.faults, terminal);
  if (configuration.topology === undefined) return exitCodes.badInput;
  const { topology } = configuration;
  const settings = withWorkers(own, topology, { options, env: terminal.env });
  terminal.endsInOrder?.();
  const left = role === undefined ? await leftBeyond(settings.dataDir, settings.workers) : [];
  if (role === undefined && settings.workers + left.length > 1) {
    const { supervise } = await import("./workers/supervise.js");
    return await supervise({ topology, settings, version, options, left }, terminal);
  }
  // Log files may be in the data directory, so it is locked first.
  const readAgain = (noting?: NamedFiles) => withLaterWorkers(read(noting), topology);
  const checked = { topology, settings, version, read: readAgain, catalogue, file: options.config, startText, files };
  const serving = (logging: Logging) => serve({ ...checked, logging }, terminal);
  return await withDataDir({ ...settings, runs: options.config }, terminal, () =>
    withLogging({ agent: topology.agent, settings, options }, terminal, serving),
  );
}

function ofWorker(configuration: Configuration, role: WorkerRole | undefined): Configuration {
  const { topology } = configuration;
  if (topology === undefined || role === undefined) return configuration;
  const faults = workerFaults(topology, role.of);
  if (faults.length > 0) return { ...configuration, topology: undefined, faults: [...configuration.faults, ...faults] };
  return { ...configuration, topology: topologyOfWorker(topology, role) };
}
