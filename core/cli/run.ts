import { once } from "node:events";
import path from "node:path";
import type { Agent } from "../agent/agent.js";
import { AGENT, agentContainer } from "../agent/container.js";
import {
  isGiven,
  type KernelFlags,
  type KernelSettings,
  readKernelSettings,
} from "../configuration/kernel-settings.js";
import type { Topology } from "../configuration/topology.js";
import { type Logging, openLogging } from "../logging/logging.js";
import type { ManagementServer } from "../management/management-server.js";
import { nameMappingsText } from "../management/name-mappings-text.js";
import { reasonOf } from "../sdk/index.js";
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
  const logging = await openLogging({
    file: settings.logging,
    folder: path.join(settings.dataDir, "logs"),
    level: settings.logLevel,
    levelGiven: isGiven("logLevel", options, terminal.env),
    report: (problem) => terminal.err(`warning: ${problem}`),
  });
  try {
    return await serve({ topology: configuration.topology, settings, version, logging }, terminal);
  } finally {
    logging.close();
  }
}

interface Service {
  readonly topology: Topology;
  readonly settings: KernelSettings;
  readonly version: string;
  readonly logging: Logging;
}

async function serve(service: Service, terminal: Terminal): Promise<number> {
  const { settings } = service;
  const log = service.logging.loggers.of("deneb");
  try {
    const { agent, management } = build(service);
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

function build({ topology, settings, version, logging }: Service): { agent: Agent; management: ManagementServer } {
  const container = agentContainer({
    topology,
    dataDir: settings.dataDir,
    loggers: logging.loggers,
    watching: settings,
  });
  const nameMappings = nameMappingsText(topology);
  return {
    agent: container.resolve(AGENT),
    management: managementOf({ container, settings, version, logging, nameMappings }),
  };
}
