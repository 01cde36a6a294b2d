import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import type { Command } from "commander";
import type { AgentErasure } from "../agent/agent-erasure.js";
import { partsOf } from "../agent/component.js";
import {
  AGENT,
  AGENT_ERASURE,
  AUTOMATIC_REPLAY,
  agentContainer,
  CERTIFICATES,
  DEAD_LETTERS,
  PROMETHEUS,
  RELOAD,
  VERIFIER,
} from "../agent/container.js";
import type { AutomaticReplay } from "../agent/replay/automatic-replay.js";
import { StrayErrors } from "../agent/stray-errors.js";
import type { Verifier } from "../agent/verification/verifier.js";
import { decodeFile } from "../configuration/file/decode.js";
import type { Configuration } from "../configuration/read-configuration.js";
import {
  type KernelFlags,
  type KernelSettings,
  kernelNames,
  readKernelSettings,
} from "../configuration/schema/kernel-settings.js";
import { topologyOfWorker, workerFaults } from "../configuration/topology/workers.js";
import type { Topology } from "../configuration/topology.js";
import type { Logging } from "../logging/logging.js";
import { ManagementServer } from "../management/management-server.js";
import { checkTls, readSecurity, tlsNow } from "../management/security/read-security.js";
import { Starting } from "../management/starting.js";
import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import type { GrowingCatalogue } from "../registry/named-plugins.js";
import { codeOf, reasonOf } from "../sdk/index.js";
import { systemClock } from "../tokens.js";
import type { OpenTracing } from "../tracing/open-tracing.js";
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
import { ReloadOnChange, startTextOf } from "./reload-on-change.js";
import { startAndOpen, type ToStart } from "./start-and-open.js";
import { tracingOf } from "./tracing.js";
import { untilEmptied } from "./workers/emptied.js";
import { leftBeyond } from "./workers/folders.js";
import { withLaterWorkers, withWorkers } from "./workers/number-of-workers.js";
import type { WorkerRole } from "./workers/role.js";
import { watchSocket } from "./workers/socket-watch.js";

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
  const own = role === undefined ? given : { ...given, dataDir: role.dataDir };
  warnOfFolder(own, terminal);
  if (role === undefined) warnOfOwner(own.dataDir, terminal);
  const catalogue = await loadNamedPlugins(own, terminal, options.config);
  const read = () => ofWorker(loadConfiguration(options, catalogue, terminal, own), role);
  const startText = startTextOf(options.config);
  let configuration = read();
  if (catalogue.lacks || configuration.topology === undefined) {
    await catalogue.complete();
    configuration = read();
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
  const readAgain = () => withLaterWorkers(read(), topology);
  const checked = { topology, settings, version, read: readAgain, catalogue, file: options.config, startText };
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

interface Service {
  readonly topology: Topology;
  readonly settings: KernelSettings;
  readonly version: string;
  readonly logging: Logging;
  readonly file: string;
  readonly startText: string | undefined;
  readonly read: () => Configuration;
  readonly catalogue: GrowingCatalogue;
}

async function serve(service: Service, terminal: Terminal): Promise<number> {
  const { settings } = service;
  const log = service.logging.loggers.of("deneb");
  let tracing: OpenTracing | undefined;
  try {
    tracing = await tracingOf(service, terminal.env);
    const built = build(service, tracing, terminal.worker?.role);
    const { agent, management, reloading, replays, verifier, erasure, strays } = built;
    terminal.onReload?.(() => reloading.now());
    terminal.onStopAgain?.(() => agent.eventsInMemory);
    const { suspects } = strays;
    if (suspects.length > 0) terminal.onStrayError?.((error) => strays.take(error), suspects);
    let lost = 0;
    // Before a source takes anything: what nobody can watch does not start.
    await management.start();
    const endWatch = watchSocket(terminal.worker?.role.socket, management, service.logging.loggers.of("management"));
    try {
      await startAndOpen(built, {
        gracePeriodSeconds: settings.gracePeriodSeconds,
        stopRequested: terminal.stopRequested,
      });
      try {
        reloading.start();
        verifier.start();
        erasure.start();
        if (settings.deadLetterReplay) replays.start();
        log.info({ version: service.version, dataDir: settings.dataDir }, "ready");
        terminal.worker?.ready();
        await untilOver(terminal, built);
        log.info({ gracePeriodSeconds: settings.gracePeriodSeconds }, "stopping");
      } finally {
        verifier.stop();
        erasure.stop();
        await reloading.stop();
        await replays.stop();
        lost = await agent.stop(settings.gracePeriodSeconds * 1000);
      }
    } finally {
      endWatch();
      await management.stop(AbortSignal.abort());
      strays.stop();
    }
    if (lost === 0) return exitCodes.success;
    log.error({ events: lost }, "ended with a loss: these events were in memory and could not be kept");
    return exitCodes.eventsLost;
  } catch (error) {
    if (codeOf(error) === "START_GIVEN_UP") return exitCodes.success;
    log.error({ reason: reasonOf(error) }, "the agent cannot run");
    return codeOf(error) === "FOLDER_IN_USE" ? exitCodes.folderInUse : exitCodes.failure;
  } finally {
    await tracing?.close();
  }
}

/** Until a stop is asked for; a worker that receives nothing ends by itself. */
async function untilOver({ stopRequested, worker }: Terminal, { agent, letters }: Built): Promise<void> {
  if (worker?.role.receives === false) await untilEmptied(agent, letters, stopRequested);
  else if (!stopRequested.aborted) await once(stopRequested, "abort");
}

interface Built extends ToStart {
  readonly management: ManagementServer;
  readonly reloading: ReloadOnChange;
  readonly replays: AutomaticReplay;
  readonly verifier: Verifier;
  readonly erasure: AgentErasure;
  readonly strays: StrayErrors;
  readonly letters: DeadLetters;
}

function build(service: Service, tracing: OpenTracing | undefined, role: WorkerRole | undefined): Built {
  const { topology, settings, version, logging, file, startText, read, catalogue } = service;
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
    ...(tracing === undefined ? {} : { tracing }),
  });
  const reloading = new ReloadOnChange({
    file,
    startText,
    read,
    reload: container.resolve(RELOAD),
    graceMilliseconds: settings.gracePeriodSeconds * 1000,
    intervalSeconds: settings.reloadIntervalSeconds,
    log: loggers.of("reload"),
    found: (state) => {
      prometheus.configurationFile = state;
      strays.show();
    },
  });
  // Before the agent starts, so that an unusable file ends the start.
  const security = readSecurity(settings, (path) => readFileSync(path, "utf8"));
  checkTls(security.tls);
  const { managementHost: host, managementPort: port, managementTlsCertificate } = settings;
  const starting = new Starting(systemClock.now());
  const readTls = () => tlsNow(settings);
  // A worker listens for its supervisor, which speaks TLS and checks tokens for all.
  const address = role === undefined ? { host, port, tls: security.tls, readTls } : { host, port, socket: role.socket };
  const management = new ManagementServer(starting.listener, address, loggers.of("management"));
  const ownConfiguration = {
    file,
    read,
    text: () => decodeFile(readFileSync(file)).text,
    reload: () => reloading.request(),
  };
  const common = { container, settings, version, logging, security, file, catalogue };
  let opened: Promise<RequestListener> | undefined;
  const open = async () => {
    const [{ managementOf }] = await Promise.all([import("./management-interface.js"), catalogue.complete()]);
    const { app, end } = managementOf({ ...common, ownConfiguration, trusted: role !== undefined });
    management.whenStopping(end);
    return app;
  };
  const manage = () => {
    opened ??= open();
    return opened;
  };
  if (security.tls !== undefined && (role === undefined || role.number === 1))
    container.resolve(CERTIFICATES).add("management", managementTlsCertificate);
  const replays = container.resolve(AUTOMATIC_REPLAY);
  const verifier = container.resolve(VERIFIER);
  const erasure = container.resolve(AGENT_ERASURE);
  const agent = container.resolve(AGENT);
  const prometheus = container.resolve(PROMETHEUS);
  const letters = container.resolve(DEAD_LETTERS);
  const strays = new StrayErrors({
    plugins: catalogue.list(),
    parts: () => partsOf(agent.assembly),
    log: loggers.of("plugins"),
    count: (plugin, component, by) => prometheus.countStrayError({ plugin, component }, by),
    now: systemClock.now,
  });
  return { agent, management, starting, manage, reloading, replays, verifier, erasure, strays, letters };
}
