import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Agent } from "../agent/agent.js";
import { AGENT, agentContainer, LETTER_REPLAYS, RELOAD, VERIFIER } from "../agent/container.js";
import type { LetterReplays } from "../agent/letter-replays.js";
import type { Verifier } from "../agent/verifier.js";
import {
  isGiven,
  type KernelFlags,
  type KernelSettings,
  readKernelSettings,
} from "../configuration/kernel-settings.js";
import type { Configuration } from "../configuration/read-configuration.js";
import type { Topology } from "../configuration/topology.js";
import { type Logging, openLogging } from "../logging/logging.js";
import type { ManagementServer } from "../management/management-server.js";
import { nameMappingsText } from "../management/name-mappings-text.js";
import { readSecurity, refuseUnusable } from "../management/security/read-security.js";
import { codeOf, reasonOf } from "../sdk/index.js";
import { withDataDir } from "./data-dir.js";
import { type ConfigurationFile, loadConfiguration, loadPlugins, printFaults } from "./load.js";
import { ReloadOnChange } from "./reload-on-change.js";
import { exitCodes, type Terminal } from "./terminal.js";

export interface RunOptions extends ConfigurationFile, KernelFlags {}

/** `deneb run`: starts the agent of a properties file and keeps it running until a stop is requested. */
export async function run(options: RunOptions, version: string, terminal: Terminal): Promise<number> {
  const { settings, faults } = readKernelSettings(options, terminal.env);
  printFaults(faults, terminal);
  if (settings === undefined) return exitCodes.badInput;
  const catalogue = await loadPlugins(settings, terminal, options.config);
  const read = () => loadConfiguration(options, catalogue, terminal, settings);
  const configuration = read();
  printFaults(configuration.faults, terminal);
  if (configuration.topology === undefined) return exitCodes.badInput;
  const { topology } = configuration;
  // The log may be files in the data directory: first of all comes its lock.
  return await withDataDir(settings, terminal, () => logged({ topology, settings, version, read }, options, terminal));
}

type Checked = Pick<Service, "topology" | "settings" | "version" | "read">;

async function logged(checked: Checked, options: RunOptions, terminal: Terminal): Promise<number> {
  const { settings } = checked;
  const logging = await openLogging({
    file: settings.logging,
    folder: path.join(settings.dataDir, "logs"),
    level: settings.logLevel,
    levelGiven: isGiven("logLevel", options, terminal.env),
    report: (problem) => terminal.err(`warning: ${problem}`),
  });
  try {
    return await serve({ ...checked, logging, file: options.config }, terminal);
  } finally {
    logging.close();
  }
}

interface Service {
  readonly topology: Topology;
  readonly settings: KernelSettings;
  readonly version: string;
  readonly logging: Logging;
  readonly file: string;
  readonly read: () => Configuration;
}

async function serve(service: Service, terminal: Terminal): Promise<number> {
  const { settings } = service;
  const log = service.logging.loggers.of("deneb");
  try {
    const { agent, manage, reloading, replays, verifier } = build(service);
    let management: ManagementServer | undefined;
    terminal.onReload?.(() => reloading.now());
    terminal.onStopAgain?.(() => agent.eventsInMemory);
    let lost = 0;
    await agent.start(settings.gracePeriodSeconds * 1000, terminal.stopRequested);
    try {
      management = await manage();
      await management.start();
      reloading.start();
      verifier.start();
      if (settings.deadLetterReplay) replays.start();
      log.info({ version: service.version, dataDir: settings.dataDir }, "ready");
      if (!terminal.stopRequested.aborted) await once(terminal.stopRequested, "abort");
      log.info({ gracePeriodSeconds: settings.gracePeriodSeconds }, "stopping");
    } finally {
      verifier.stop();
      await reloading.stop();
      await replays.stop();
      lost = await agent.stop(settings.gracePeriodSeconds * 1000);
      await management?.stop(AbortSignal.abort());
    }
    if (lost === 0) return exitCodes.success;
    log.error({ events: lost }, "ended with a loss: these events were in memory and could not be kept");
    return exitCodes.eventsLost;
  } catch (error) {
    if (codeOf(error) === "START_GIVEN_UP") return exitCodes.success;
    log.error({ reason: reasonOf(error) }, "the agent cannot run");
    return codeOf(error) === "FOLDER_IN_USE" ? exitCodes.folderInUse : exitCodes.failure;
  }
}

interface Built {
  readonly agent: Agent;
  /** Loads and makes the management interface: brokers need not wait for it. */
  readonly manage: () => Promise<ManagementServer>;
  readonly reloading: ReloadOnChange;
  readonly replays: LetterReplays;
  readonly verifier: Verifier;
}

function build({ topology, settings, version, logging, file, read }: Service): Built {
  const deadLetterLimits = { days: settings.deadLetterDays, bytes: settings.deadLetterBytes };
  const { loggers } = logging;
  const { dataDir } = settings;
  const container = agentContainer({
    topology,
    dataDir,
    loggers,
    deadLetterLimits,
    watching: settings,
    startTimeout: settings.startTimeoutSeconds,
    lockWait: settings.lockWaitSeconds,
  });
  const nameMappings = nameMappingsText(topology);
  const reloading = new ReloadOnChange({
    file,
    read,
    reload: container.resolve(RELOAD),
    graceMilliseconds: settings.gracePeriodSeconds * 1000,
    intervalSeconds: settings.reloadIntervalSeconds,
    log: loggers.of("reload"),
  });
  // Before the agent starts: a file that cannot be used ends it.
  const security = readSecurity(settings, (path) => readFileSync(path, "utf8"));
  refuseUnusable(security.tls);
  const manage = async () => {
    const { managementOf } = await import("./management.js");
    return managementOf({ container, settings, version, logging, nameMappings, security });
  };
  const replays = container.resolve(LETTER_REPLAYS);
  return { agent: container.resolve(AGENT), manage, reloading, replays, verifier: container.resolve(VERIFIER) };
}
