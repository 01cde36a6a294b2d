import type { RequestListener } from "node:http";
import type { DependencyContainer } from "tsyringe";
import {
  AGENT,
  AGENT_ERASURE,
  ARRIVALS,
  DEAD_LETTER_REPLAY,
  EXPLAIN_RUNNING,
  LIVE_VIEW,
  METRICS,
  PROMETHEUS,
  READINESS,
  RELOAD,
  STATISTICS,
  VERIFIER,
} from "../agent/container.js";
import { brokerTimeouts, type KernelSettings } from "../configuration/schema/kernel-settings.js";
import type { Logging } from "../logging/logging.js";
import { AgentFiles } from "../management/configuration/agent-files.js";
import type { OwnConfiguration } from "../management/configuration/running-configuration-resource.js";
import { LiveStream } from "../management/live/live-stream.js";
import { managementApp } from "../management/management-app.js";
import { nameMappingsOf } from "../management/name-mappings-resource.js";
import type { Security } from "../management/security/read-security.js";
import { BrokerClient } from "../management/subscriptions/broker-client.js";
import { BrokerTargets } from "../management/subscriptions/broker-targets.js";
import type { PluginCatalogue } from "../tokens.js";

interface ManagementSetup {
  readonly container: DependencyContainer;
  readonly settings: KernelSettings;
  readonly version: string;
  readonly logging: Logging;
  readonly security: Security;
  /** The properties file of the agent. */
  readonly file: string;
  readonly catalogue: PluginCatalogue;
  readonly ownConfiguration: OwnConfiguration;
  /** True in a worker, whose supervisor checks callers. */
  readonly trusted: boolean;
}

/** What answers, and what ends the answers that would never end. */
interface OpenedManagement {
  readonly app: RequestListener;
  end(): void;
}

/** The management interface of an agent. */
export function managementOf(setup: ManagementSetup): OpenedManagement {
  const { container, settings, version, logging, security, file, catalogue, ownConfiguration, trusted } = setup;
  const log = logging.loggers.of("management");
  const { tokens, tls, brokerTargets } = security;
  const brokers = new BrokerClient({
    targets: new BrokerTargets(brokerTargets),
    ...brokerTimeouts(settings),
    verifyTls: settings.brokerVerifyTls,
  });
  const folder = settings.managementConfigurationFolder;
  const hosts = [settings.managementHost, ...settings.managementHosts];
  const agent = container.resolve(AGENT);
  const live = container.resolve(LIVE_VIEW);
  const stream = new LiveStream({ source: live, log });
  const app = managementApp({
    version,
    statistics: container.resolve(STATISTICS),
    metrics: container.resolve(METRICS),
    prometheus: container.resolve(PROMETHEUS),
    readiness: container.resolve(READINESS),
    verifier: container.resolve(VERIFIER),
    erasure: container.resolve(AGENT_ERASURE),
    agent,
    live,
    stream,
    arrivals: container.resolve(ARRIVALS),
    explaining: container.resolve(EXPLAIN_RUNNING),
    reloads: container.resolve(RELOAD),
    ownConfiguration,
    catalogue,
    brokers,
    access: {
      tokens,
      trusted,
      tls: tls !== undefined,
      hosts,
      page: settings.managementPage,
      bodyLimit: settings.managementBodyLimit,
    },
    logging,
    nameMappings: nameMappingsOf(() => agent.assembly.sources.map(({ node }) => node)),
    deadLetterReplay: container.resolve(DEAD_LETTER_REPLAY),
    configuration: folder === "" ? undefined : { files: new AgentFiles(folder, file), catalogue },
    log,
  });
  return { app, end: () => stream.end() };
}
