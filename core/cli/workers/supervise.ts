import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { warningAt } from "../../configuration/configuration-fault.js";
import { brokerTimeouts, type KernelFlags, type KernelSettings } from "../../configuration/schema/kernel-settings.js";
import { isShareable, workerFaults, workersKey } from "../../configuration/topology/workers.js";
import type { Topology } from "../../configuration/topology.js";
import { reasonWithRemedy } from "../../files/refused-access.js";
import type { Logging } from "../../logging/logging.js";
import { ManagementServer } from "../../management/management-server.js";
import {
  checkTls,
  followTokens,
  readSecurity,
  type Security,
  tlsNow,
} from "../../management/security/read-security.js";
import { longestCall } from "../../management/subscriptions/all-subscriptions.js";
import { gateway } from "../../management/workers/gateway.js";
import type { Logger } from "../../sdk/index.js";
import { systemClock } from "../../tokens.js";
import { withLogging } from "../agent-logging.js";
import { exitCodes, type Terminal } from "../command.js";
import { printFaults } from "../load.js";
import type { StartFindings } from "../start-findings.js";
import { folderOf, socketFolder } from "./folders.js";
import { Supervisor } from "./supervisor.js";

export interface Supervised {
  readonly topology: Topology;
  readonly settings: KernelSettings;
  readonly version: string;
  readonly options: KernelFlags;
  /** Workers beyond the number that was asked for, which have something left. */
  readonly left: readonly number[];
  readonly findings: StartFindings;
}

/** `deneb run` with several workers: runs the agent in several processes, and serves the management interface of all of them. */
export async function supervise(supervised: Supervised, terminal: Terminal): Promise<number> {
  const { topology, settings, options, left, findings } = supervised;
  const faults = workerFaults(topology, settings.workers + left.length);
  if (faults.length > 0) {
    printFaults(faults, terminal);
    if (settings.workers === 1) terminal.err(`error: ${leftText(settings.dataDir, left)}`);
    return exitCodes.badInput;
  }
  if (settings.workers > 1 && !isShareable(topology)) {
    const at = { key: workersKey(topology, settings.workers), value: String(settings.workers) };
    findings.add(warningAt(at, "no source has a port that workers share; only worker 1 receives"));
  }
  const sockets = await socketFolder(tmpdir());
  if ("reason" in sockets) {
    terminal.err(`error: ${workersKey(topology, settings.workers)} = ${settings.workers}: ${sockets.reason}`);
    return exitCodes.badInput;
  }
  try {
    return await withLogging({ agent: topology.agent, settings, options, findings }, terminal, async (logging) => {
      try {
        return await runAll({ ...supervised, logging, sockets: sockets.folder }, terminal);
      } catch (error) {
        logging.loggers.of("deneb").error({ reason: await reasonWithRemedy(error) }, "the agent cannot run");
        return exitCodes.failure;
      }
    });
  } finally {
    await rm(sockets.folder, { recursive: true, force: true });
  }
}

function leftText(dataDir: string, left: readonly number[]): string {
  const folders = left.map((number) => `"${folderOf(dataDir, number)}"`).join(", ");
  return `earlier workers have left something in ${folders}; start the agent with the previous configuration to store it`;
}

interface Running extends Supervised {
  readonly logging: Logging;
  readonly sockets: string;
}

async function runAll(running: Running, terminal: Terminal): Promise<number> {
  const { topology, settings, version, logging, left, sockets } = running;
  const log = logging.loggers.of("deneb");
  const security = readSecurity(settings, (file) => readFileSync(file, "utf8"));
  checkTls(security.tls);
  const { workers, dataDir, gracePeriodSeconds } = settings;
  const channels = topology.channels.map(({ name }) => name);
  const supervisor = new Supervisor({
    dataDir,
    workers,
    left,
    channels,
    sockets,
    gracePeriodSeconds,
    log,
    now: systemClock.now,
  });
  const management = managementOf(supervisor, { running, security, log: logging.loggers.of("management") });
  terminal.onReload?.(() => supervisor.reload());
  let stops = 0;
  terminal.onStopAgain?.(() => {
    stops += 1;
    const events = supervisor.eventsInMemory;
    if (stops > 1) {
      supervisor.kill();
      rmSync(sockets, { recursive: true, force: true });
    }
    return events;
  });
  await management.start();
  try {
    const { stopRequested } = terminal;
    const onStop = () => void supervisor.stop();
    stopRequested.addEventListener("abort", onStop, { once: true });
    if (stopRequested.aborted) return exitCodes.success;
    const isRunning = await supervisor.start();
    if (isRunning && !stopRequested.aborted) {
      log.info({ version, dataDir, workers }, "ready");
      await once(stopRequested, "abort");
    }
    log.info({ gracePeriodSeconds }, "stopping");
    return await supervisor.stop();
  } finally {
    await management.stop(AbortSignal.abort());
  }
}

interface Managed {
  readonly running: Running;
  readonly security: Security;
  readonly log: Logger;
}

function managementOf(team: Supervisor, { running, security, log }: Managed): ManagementServer {
  const { settings, version } = running;
  const { managementHost: host, managementPort: port, managementHosts, managementPage: page } = settings;
  const access = {
    tokens: security.tokens,
    tls: security.tls !== undefined,
    hosts: [host, ...managementHosts],
    page,
    bodyLimit: settings.managementBodyLimit,
  };
  const { app, end } = gateway({ team, version, access, log, brokerMillis: longestCall(brokerTimeouts(settings)) });
  const address = { host, port, tls: security.tls, readTls: () => tlsNow(settings) };
  const management = new ManagementServer(app, address, log);
  management.whenStopping(end);
  management.whenStopping(followTokens(security, settings, { log }));
  return management;
}
