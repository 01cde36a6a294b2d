import { once } from "node:events";
import type { Agent } from "../agent/agent.js";
import { AGENT, agentContainer, LETTER_DESK, RELOAD, STATISTICS } from "../agent/container.js";
import { type KernelFlags, type KernelSettings, readKernelSettings } from "../configuration/kernel-settings.js";
import type { Configuration } from "../configuration/read-configuration.js";
import type { Topology } from "../configuration/topology.js";
import { createLoggers } from "../logging/loggers.js";
import { managementApp } from "../management/management-app.js";
import { ManagementServer } from "../management/management-server.js";
import { reasonOf } from "../sdk/index.js";
import type { Loggers } from "../tokens.js";
import { type ConfigurationFile, loadConfiguration, loadPlugins, printFaults } from "./load.js";
import { ReloadOnChange } from "./reload-on-change.js";
import { exitCodes, type Terminal } from "./terminal.js";

export interface RunOptions extends ConfigurationFile, KernelFlags {}

/** `deneb run`: starts the agent of a properties file and keeps it running until a stop is requested. */
export async function run(options: RunOptions, version: string, terminal: Terminal): Promise<number> {
  const { settings, faults } = readKernelSettings(options, terminal.env);
  printFaults(faults, terminal);
  if (settings === undefined) return exitCodes.badInput;
  const catalogue = await loadPlugins(settings.pluginFolders, terminal);
  const read = () => loadConfiguration(options, catalogue, terminal);
  const configuration = read();
  printFaults(configuration.faults, terminal);
  if (configuration.topology === undefined) return exitCodes.badInput;
  return await serve({ topology: configuration.topology, settings, version, file: options.config, read }, terminal);
}

interface Service {
  readonly topology: Topology;
  readonly settings: KernelSettings;
  readonly version: string;
  readonly file: string;
  readonly read: () => Configuration;
}

async function serve(service: Service, terminal: Terminal): Promise<number> {
  const { settings } = service;
  const loggers = createLoggers(settings.logLevel);
  const log = loggers.of("deneb");
  try {
    const { agent, management, reloading } = build(service, loggers);
    terminal.onReload?.(() => reloading.now());
    await agent.start(settings.gracePeriodSeconds * 1000);
    try {
      await management.start();
      reloading.start();
      log.info({ version: service.version, dataDir: settings.dataDir }, "ready");
      if (!terminal.stopRequested.aborted) await once(terminal.stopRequested, "abort");
      log.info({ gracePeriodSeconds: settings.gracePeriodSeconds }, "stopping");
    } finally {
      await reloading.stop();
      await agent.stop(settings.gracePeriodSeconds * 1000);
      await management.stop(AbortSignal.abort());
    }
    return exitCodes.success;
  } catch (error) {
    log.error({ reason: reasonOf(error) }, "the agent cannot run");
    return exitCodes.failure;
  }
}

interface Built {
  readonly agent: Agent;
  readonly management: ManagementServer;
  readonly reloading: ReloadOnChange;
}

function build({ topology, settings, version, file, read }: Service, loggers: Loggers): Built {
  const deadLetterLimits = { days: settings.deadLetterDays, bytes: settings.deadLetterBytes };
  const container = agentContainer({ topology, dataDir: settings.dataDir, loggers, deadLetterLimits });
  const log = loggers.of("management");
  const statistics = container.resolve(STATISTICS);
  const app = managementApp({ version, statistics, letterDesk: container.resolve(LETTER_DESK), log });
  const address = { host: settings.managementHost, port: settings.managementPort };
  const reloading = new ReloadOnChange({
    file,
    read,
    reload: container.resolve(RELOAD),
    graceMilliseconds: settings.gracePeriodSeconds * 1000,
    intervalSeconds: settings.reloadIntervalSeconds,
    log: loggers.of("reload"),
  });
  return { agent: container.resolve(AGENT), management: new ManagementServer(app, address, log), reloading };
}
