import { once } from "node:events";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Command } from "commander";
import type { Agent } from "../agent/agent.js";
import type { AgentErasure } from "../agent/agent-erasure.js";
import { partsOf } from "../agent/component.js";
import {
  AGENT,
  AGENT_ERASURE,
  agentContainer,
  LETTER_REPLAYS,
  PROMETHEUS,
  RELOAD,
  VERIFIER,
} from "../agent/container.js";
import type { LetterReplays } from "../agent/letter-replays.js";
import { StrayErrors } from "../agent/stray-errors.js";
import type { Verifier } from "../agent/verifier.js";
import type { Configuration } from "../configuration/read-configuration.js";
import {
  isGiven,
  type KernelFlags,
  type KernelSettings,
  kernelNames,
  readKernelSettings,
} from "../configuration/schema/kernel-settings.js";
import type { Topology } from "../configuration/topology.js";
import { type Logging, openLogging } from "../logging/logging.js";
import type { ManagementServer } from "../management/management-server.js";
import { nameMappingsOf } from "../management/name-mappings-resource.js";
import { checkTls, readSecurity } from "../management/security/read-security.js";
import { codeOf, reasonOf } from "../sdk/index.js";
import { type PluginCatalogue, systemClock } from "../tokens.js";
import {
  type CommandContext,
  exitCodes,
  type Terminal,
  withConfiguration,
  withPlugins,
  withSettings,
} from "./command.js";
import { withDataDir } from "./data-dir.js";
import { type ConfigurationFile, loadConfiguration, loadPlugins, printFaults } from "./load.js";
import { ReloadOnChange } from "./reload-on-change.js";

interface RunOptions extends ConfigurationFile, KernelFlags {}

export function define(command: Command, { terminal, version, exitWith }: CommandContext): void {
  withSettings(withPlugins(withConfiguration(command)), kernelNames).action((options: RunOptions) =>
    exitWith(run(options, version, terminal)),
  );
}

/** `deneb run`: starts the agent of a properties file and runs it until a stop is requested. */
async function run(options: RunOptions, version: string, terminal: Terminal): Promise<number> {
  const { settings, faults } = readKernelSettings(options, terminal.env);
  printFaults(faults, terminal);
  if (settings === undefined) return exitCodes.badInput;
  const catalogue = await loadPlugins(settings, terminal, options.config);
  const read = () => loadConfiguration(options, catalogue, terminal, settings);
  const configuration = read();
  printFaults(configuration.faults, terminal);
  if (configuration.topology === undefined) return exitCodes.badInput;
  const { topology } = configuration;
  terminal.endsInOrder?.();
  // Log files may be in the data directory, so it is locked first.
  const checked = { topology, settings, version, read, catalogue };
  return await withDataDir(settings, terminal, () => logged(checked, options, terminal));
}

type Checked = Pick<Service, "topology" | "settings" | "version" | "read" | "catalogue">;

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
  readonly catalogue: PluginCatalogue;
}

async function serve(service: Service, terminal: Terminal): Promise<number> {
  const { settings } = service;
  const log = service.logging.loggers.of("deneb");
  try {
    const { agent, manage, reloading, replays, verifier, erasure, strays } = build(service);
    let management: ManagementServer | undefined;
    terminal.onReload?.(() => reloading.now());
    terminal.onStopAgain?.(() => agent.eventsInMemory);
    const { suspects } = strays;
    if (suspects.length > 0) terminal.onStrayError?.((error) => strays.take(error), suspects);
    let lost = 0;
    await agent.start(settings.gracePeriodSeconds * 1000, terminal.stopRequested);
    try {
      management = await manage();
      await management.start();
      reloading.start();
      verifier.start();
      erasure.start();
      if (settings.deadLetterReplay) replays.start();
      log.info({ version: service.version, dataDir: settings.dataDir }, "ready");
      if (!terminal.stopRequested.aborted) await once(terminal.stopRequested, "abort");
      log.info({ gracePeriodSeconds: settings.gracePeriodSeconds }, "stopping");
    } finally {
      verifier.stop();
      erasure.stop();
      await reloading.stop();
      await replays.stop();
      lost = await agent.stop(settings.gracePeriodSeconds * 1000);
      await management?.stop(AbortSignal.abort());
      strays.stop();
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
  /** Loads and creates the management interface, after the sources have started: brokers need not wait for it. */
  readonly manage: () => Promise<ManagementServer>;
  readonly reloading: ReloadOnChange;
  readonly replays: LetterReplays;
  readonly verifier: Verifier;
  readonly erasure: AgentErasure;
  readonly strays: StrayErrors;
}

function build({ topology, settings, version, logging, file, read, catalogue }: Service): Built {
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
  const nameMappings = nameMappingsOf(topology);
  const reloading = new ReloadOnChange({
    file,
    read,
    reload: container.resolve(RELOAD),
    graceMilliseconds: settings.gracePeriodSeconds * 1000,
    intervalSeconds: settings.reloadIntervalSeconds,
    log: loggers.of("reload"),
  });
  // Before the agent starts, so that an unusable file ends the start.
  const security = readSecurity(settings, (path) => readFileSync(path, "utf8"));
  checkTls(security.tls);
  const manage = async () => {
    const { managementOf } = await import("./management-interface.js");
    return managementOf({ container, settings, version, logging, nameMappings, security, file, catalogue });
  };
  const replays = container.resolve(LETTER_REPLAYS);
  const verifier = container.resolve(VERIFIER);
  const erasure = container.resolve(AGENT_ERASURE);
  const agent = container.resolve(AGENT);
  const prometheus = container.resolve(PROMETHEUS);
  const strays = new StrayErrors({
    plugins: catalogue.list(),
    parts: () => partsOf(agent.assembly),
    log: loggers.of("plugins"),
    count: (plugin, component) => prometheus.countStrayError(plugin, component),
    now: systemClock.now,
  });
  return { agent, manage, reloading, replays, verifier, erasure, strays };
}
