import type { DependencyContainer } from "tsyringe";
import {
  AGENT_ERASURE,
  DEAD_LETTER_REPLAY,
  METRICS,
  PROMETHEUS,
  READINESS,
  STATISTICS,
  VERIFIER,
} from "../agent/container.js";
import type { KernelSettings } from "../configuration/schema/kernel-settings.js";
import type { EditedText } from "../files/edited-text.js";
import type { Logging } from "../logging/logging.js";
import { AgentFiles } from "../management/configuration/agent-files.js";
import { managementApp } from "../management/management-app.js";
import { ManagementServer } from "../management/management-server.js";
import type { Security } from "../management/security/read-security.js";
import { BrokerClient } from "../management/subscriptions/broker-client.js";
import { BrokerTargets } from "../management/subscriptions/broker-targets.js";
import type { PluginCatalogue } from "../tokens.js";

export interface ManagementSetup {
  readonly container: DependencyContainer;
  readonly settings: KernelSettings;
  readonly version: string;
  readonly logging: Logging;
  readonly nameMappings: EditedText;
  readonly security: Security;
  /** The properties file of the agent. */
  readonly file: string;
  readonly catalogue: PluginCatalogue;
}

/** The management interface of an agent. */
export function managementOf(setup: ManagementSetup): ManagementServer {
  const { container, settings, version, logging, nameMappings, security, file, catalogue } = setup;
  const log = logging.loggers.of("management");
  const { tokens, tls, brokerTargets } = security;
  const brokers = new BrokerClient({
    targets: new BrokerTargets(brokerTargets),
    timeoutMillis: settings.brokerTimeout * 1000,
    createTimeoutMillis: Math.max(settings.brokerCreateTimeout, settings.brokerTimeout) * 1000,
    verifyTls: settings.brokerVerifyTls,
  });
  const folder = settings.managementConfigurationFolder;
  const hosts = [settings.managementHost, ...settings.managementHosts];
  const app = managementApp({
    version,
    statistics: container.resolve(STATISTICS),
    metrics: container.resolve(METRICS),
    prometheus: container.resolve(PROMETHEUS),
    readiness: container.resolve(READINESS),
    verifier: container.resolve(VERIFIER),
    erasure: container.resolve(AGENT_ERASURE),
    brokers,
    access: { tokens, tls: tls !== undefined, hosts, bodyLimit: settings.managementBodyLimit },
    logging,
    nameMappings,
    deadLetterReplay: container.resolve(DEAD_LETTER_REPLAY),
    configuration: folder === "" ? undefined : { files: new AgentFiles(folder, file), catalogue },
    log,
  });
  return new ManagementServer(app, { host: settings.managementHost, port: settings.managementPort, tls }, log);
}
