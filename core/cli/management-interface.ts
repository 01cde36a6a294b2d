import type { DependencyContainer } from "tsyringe";
import { DEAD_LETTER_REPLAY, METRICS, PROMETHEUS, READINESS, STATISTICS, VERIFIER } from "../agent/container.js";
import type { KernelSettings } from "../configuration/schema/kernel-settings.js";
import type { EditedText } from "../files/edited-text.js";
import type { Logging } from "../logging/logging.js";
import { managementApp } from "../management/management-app.js";
import { ManagementServer } from "../management/management-server.js";
import type { Security } from "../management/security/read-security.js";
import { BrokerClient, BrokerTargets } from "../management/subscriptions/broker-client.js";

export interface ManagementSetup {
  readonly container: DependencyContainer;
  readonly settings: KernelSettings;
  readonly version: string;
  readonly logging: Logging;
  readonly nameMappings: EditedText;
  readonly security: Security;
}

/** The management interface of an agent. */
export function managementOf(setup: ManagementSetup): ManagementServer {
  const { container, settings, version, logging, nameMappings, security } = setup;
  const log = logging.loggers.of("management");
  const { tokens, tls, brokerTargets } = security;
  const brokers = new BrokerClient({
    targets: new BrokerTargets(brokerTargets),
    timeoutMillis: settings.brokerTimeout * 1000,
    verifyTls: settings.brokerVerifyTls,
  });
  const hosts = [settings.managementHost, ...settings.managementHosts];
  const app = managementApp({
    version,
    statistics: container.resolve(STATISTICS),
    metrics: container.resolve(METRICS),
    prometheus: container.resolve(PROMETHEUS),
    readiness: container.resolve(READINESS),
    verifier: container.resolve(VERIFIER),
    brokers,
    access: { tokens, tls: tls !== undefined, hosts, bodyLimit: settings.managementBodyLimit },
    logging,
    nameMappings,
    deadLetterReplay: container.resolve(DEAD_LETTER_REPLAY),
    log,
  });
  return new ManagementServer(app, { host: settings.managementHost, port: settings.managementPort, tls }, log);
}
