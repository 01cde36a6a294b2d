import { once } from "node:events";
import type { Agent } from "../agent/agent.js";
import { AGENT, agentContainer } from "../agent/container.js";
import { type KernelFlags, type KernelSettings, readKernelSettings } from "../configuration/kernel-settings.js";
import type { Topology } from "../configuration/topology.js";
import { createLoggers } from "../logging/loggers.js";
import type { ManagementServer } from "../management/management-server.js";
import { reasonOf } from "../sdk/index.js";
import type { Loggers } from "../tokens.js";
import { type ConfigurationFile, loadConfiguration, loadPlugins, printFaults } from "./load.js";
import { managementOf } from "./management.js";
import { exitCodes, type Terminal } from "./terminal.js";

export interface RunOptions extends ConfigurationFile, KernelFlags {}

/** `deneb run`: starts the agent of a properties file and keeps it running until a stop is requested. */
export async function run(options: RunOptions, version: string, terminal: Terminal): Promise<number> {
  const { settings, faults } = readKernelSettings(options, terminal.env);
  printFaults(faults, terminal);
  if (settings === undefined) return exitCodes.badInput;
  const catalogue = await loadPlugins(settings.pluginFolders, terminal);
  const configuration = loadConfiguration(options, catalogue, terminal);
  printFaults(configuration.faults, terminal);
  if (configuration.topology === undefined) return exitCodes.badInput;
  return await serve({ topology: configuration.topology, settings, version }, terminal);
}

interface Service {
  readonly topology: Topology;
  readonly settings: KernelSettings;
  readonly version: string;
}

async function serve(service: Service, terminal: Terminal): Promise<number> {
  const { settings } = service;
  const loggers = createLoggers(settings.logLevel);
  const log = loggers.of("deneb");
  try {
    const { agent, management } = build(service, loggers);
    await agent.start(settings.gracePeriodSeconds * 1000);
    try {
      await management.start();
      log.info({ version: service.version, dataDir: settings.dataDir }, "ready");
      if (!terminal.stopRequested.aborted) await once(terminal.stopRequested, "abort");
      log.info({ gracePeriodSeconds: settings.gracePeriodSeconds }, "stopping");
    } finally {
      await agent.stop(settings.gracePeriodSeconds * 1000);
      await management.stop(AbortSignal.abort());
    }
    return exitCodes.success;
  } catch (error) {
    log.error({ reason: reasonOf(error) }, "the agent cannot run");
    return exitCodes.failure;
  }
}

function build(
  { topology, settings, version }: Service,
  loggers: Loggers,
): { agent: Agent; management: ManagementServer } {
  const container = agentContainer({ topology, dataDir: settings.dataDir, loggers, watching: settings });
  const log = loggers.of("management");
  return { agent: container.resolve(AGENT), management: managementOf({ container, settings, version, log }) };
}
