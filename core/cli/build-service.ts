import { readFileSync } from "node:fs";
import type { RequestListener } from "node:http";
import type { DependencyContainer } from "tsyringe";
import type { AgentErasure } from "../agent/agent-erasure.js";
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
import { partsOf } from "../agent/parts-of.js";
import type { AutomaticReplay } from "../agent/replay/automatic-replay.js";
import { StrayErrors } from "../agent/stray-errors.js";
import type { Verifier } from "../agent/verification/verifier.js";
import { decodeFile } from "../configuration/file/decode.js";
import type { Configuration } from "../configuration/read-configuration.js";
import type { KernelSettings } from "../configuration/schema/kernel-settings.js";
import type { Topology } from "../configuration/topology.js";
import type { Logging } from "../logging/logging.js";
import { ManagementServer } from "../management/management-server.js";
import { checkTls, followTokens, readSecurity, tlsNow } from "../management/security/read-security.js";
import { Starting } from "../management/starting.js";
import type { DeadLetters } from "../pipeline/dead-letters/dead-letters.js";
import type { GrowingCatalogue } from "../registry/named-plugins.js";
import { systemClock } from "../tokens.js";
import type { OpenTracing } from "../tracing/open-tracing.js";
import type { NamedFiles } from "./named-files.js";
import { ReloadOnChange } from "./reload-on-change.js";
import type { ToStart } from "./start-and-open.js";
import type { WorkerRole } from "./workers/role.js";

/** What `deneb run` serves, once its file was read and its data directory is locked. */
export interface Service {
  readonly topology: Topology;
  readonly settings: KernelSettings;
  readonly version: string;
  readonly logging: Logging;
  readonly file: string;
  readonly startText: string | undefined;
  /** What the present configuration was read from besides the file. */
  readonly files: NamedFiles;
  /** Reads the file, and notes what it reads besides. */
  readonly read: (noting?: NamedFiles) => Configuration;
  readonly catalogue: GrowingCatalogue;
}

export interface BuiltService extends ToStart {
  readonly management: ManagementServer;
  readonly reloading: ReloadOnChange;
  readonly replays: AutomaticReplay;
  readonly verifier: Verifier;
  readonly erasure: AgentErasure;
  readonly strays: StrayErrors;
  readonly letters: DeadLetters;
}

/** Makes an agent and what is around it; starts nothing. */
export function buildService(
  service: Service,
  tracing: OpenTracing | undefined,
  role: WorkerRole | undefined,
): BuiltService {
  const container = containerOf(service, tracing);
  const strays = strayErrors(service, container);
  const reloading = reloadOnChange(service, container, strays);
  const management = managementParts({ service, container, reloading, role });
  return {
    agent: container.resolve(AGENT),
    ...management,
    reloading,
    replays: container.resolve(AUTOMATIC_REPLAY),
    verifier: container.resolve(VERIFIER),
    erasure: container.resolve(AGENT_ERASURE),
    strays,
    letters: container.resolve(DEAD_LETTERS),
  };
}

function containerOf({ topology, settings, logging }: Service, tracing: OpenTracing | undefined): DependencyContainer {
  return agentContainer({
    topology,
    dataDir: settings.dataDir,
    loggers: logging.loggers,
    deadLetterLimits: { days: settings.deadLetterDays, bytes: settings.deadLetterBytes },
    watching: settings,
    startTimeout: settings.startTimeoutSeconds,
    lockWait: settings.lockWaitSeconds,
    ...(tracing === undefined ? {} : { tracing }),
  });
}

function strayErrors({ catalogue, logging }: Service, container: DependencyContainer): StrayErrors {
  const agent = container.resolve(AGENT);
  const prometheus = container.resolve(PROMETHEUS);
  return new StrayErrors({
    plugins: catalogue.list(),
    parts: () => partsOf(agent.assembly),
    log: logging.loggers.of("plugins"),
    count: (plugin, component, by) => prometheus.countStrayError({ plugin, component }, by),
    now: systemClock.now,
  });
}

function reloadOnChange(service: Service, container: DependencyContainer, strays: StrayErrors): ReloadOnChange {
  const { file, startText, files, read, settings, logging } = service;
  const prometheus = container.resolve(PROMETHEUS);
  return new ReloadOnChange({
    file,
    startText,
    files,
    read: () => read(files),
    reload: container.resolve(RELOAD),
    graceMilliseconds: settings.gracePeriodSeconds * 1000,
    intervalSeconds: settings.reloadIntervalSeconds,
    log: logging.loggers.of("reload"),
    found: (state) => {
      prometheus.configurationFile = state;
      strays.show();
    },
  });
}

interface ManagementFor {
  readonly service: Service;
  readonly container: DependencyContainer;
  readonly reloading: ReloadOnChange;
  readonly role: WorkerRole | undefined;
}

/** The server of the management interface, and what loads its answers. */
function managementParts({ service, container, reloading, role }: ManagementFor) {
  const { settings, version, logging, file, read, catalogue } = service;
  // Before the agent starts, so that an unusable file ends the start.
  const security = readSecurity(settings, (path) => readFileSync(path, "utf8"));
  checkTls(security.tls);
  const { managementHost: host, managementPort: port, managementTlsCertificate } = settings;
  const starting = new Starting(systemClock.now());
  const readTls = () => tlsNow(settings);
  // A worker listens for its supervisor, which speaks TLS and checks tokens for all.
  const address = role === undefined ? { host, port, tls: security.tls, readTls } : { host, port, socket: role.socket };
  const log = logging.loggers.of("management");
  const management = new ManagementServer(starting.listener, address, log);
  if (role === undefined) management.whenStopping(followTokens(security, settings, { log }));
  if (security.tls !== undefined && (role === undefined || role.number === 1))
    container.resolve(CERTIFICATES).add("management", managementTlsCertificate);
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
  return { management, starting, manage };
}
