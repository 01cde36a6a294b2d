import type { Express } from "express";
import type { Agent } from "../agent/agent.js";
import type { AgentErasure } from "../agent/agent-erasure.js";
import type { ArrivalSample } from "../agent/arrivals/arrival-sample.js";
import type { ExplainRunning } from "../agent/explain/explain-running.js";
import type { LiveView } from "../agent/live/live-view.js";
import type { Reload } from "../agent/reload.js";
import type { DeadLetterReplay } from "../agent/replay/dead-letter-replay.js";
import { replayPlan } from "../agent/replay/replay-plan.js";
import type { Readiness } from "../agent/state/readiness.js";
import type { Statistics } from "../agent/state/statistics.js";
import { topologyView } from "../agent/state/topology-view.js";
import type { Verifier } from "../agent/verification/verifier.js";
import type { EditedText } from "../files/edited-text.js";
import type { LoggingTargets } from "../logging/definitions.js";
import type { Prometheus } from "../metrics/prometheus.js";
import type { TransactionMetrics } from "../metrics/transaction-metrics.js";
import type { Logger } from "../sdk/index.js";
import type { PluginCatalogue } from "../tokens.js";
import { accessResource } from "./access-resource.js";
import { arrivalsResource } from "./arrivals/arrivals-resource.js";
import { type ConfigurationAccess, configurationResource } from "./configuration/configuration-resource.js";
import { type OwnConfiguration, runningConfigurationResource } from "./configuration/running-configuration-resource.js";
import { deadLetterSearchResource } from "./dead-letters/dead-letter-search-resource.js";
import { deadLettersResource } from "./dead-letters/dead-letters-resource.js";
import { erasuresResource } from "./erasures-resource.js";
import { explainResource } from "./explain-resource.js";
import { streamResource, topologyResource } from "./live/live-resources.js";
import type { LiveStream } from "./live/live-stream.js";
import { appendersResource, loggersResource } from "./logging/logging-resources.js";
import { rootLevelResource } from "./logging/root-level-resource.js";
import { type ManagementAccess, managementFront } from "./management-front.js";
import { metricsResource, prometheusResource } from "./metrics-resources.js";
import { nameMappingsResource } from "./name-mappings-resource.js";
import { openapiResource, type Resource } from "./openapi.js";
import { probesResource } from "./probes-resource.js";
import { statisticsResource } from "./statistics/statistics-resource.js";
import type { BrokerClient } from "./subscriptions/broker-client.js";
import { subscriptionsResource } from "./subscriptions/subscriptions-resource.js";
import { verifyResource } from "./verify-resource.js";
import { versionResource } from "./version-resource.js";

export interface ManagementParts {
  readonly version: string;
  readonly statistics: Statistics;
  readonly metrics: TransactionMetrics;
  readonly prometheus: Prometheus;
  readonly readiness: Readiness;
  readonly verifier: Pick<Verifier, "verify">;
  readonly erasure: Pick<AgentErasure, "erase">;
  readonly agent: Pick<Agent, "name" | "assembly">;
  readonly live: LiveView;
  readonly stream: LiveStream;
  readonly explaining: Pick<ExplainRunning, "explain">;
  readonly arrivals: ArrivalSample;
  readonly reloads: Pick<Reload, "last">;
  /** Undefined where the agent has no file, or its plugins are not known. */
  readonly ownConfiguration?: OwnConfiguration | undefined;
  /** Says which package a plugin comes from. */
  readonly catalogue?: PluginCatalogue | undefined;
  readonly brokers: BrokerClient;
  readonly access: ManagementAccess;
  readonly logging: LoggingTargets;
  /** The file of the name mappings. */
  readonly nameMappings: EditedText;
  readonly deadLetterReplay: DeadLetterReplay;
  /** Undefined where files of agents are neither read nor changed by calls. */
  readonly configuration?: ConfigurationAccess | undefined;
  readonly log: Logger;
}

/** The management interface as an express application. A new resource is one file and one line in `resources`. */
export function managementApp(parts: ManagementParts): Express {
  const { version, log } = parts;
  const resources = [
    versionResource(version),
    statisticsResource(parts.statistics),
    subscriptionsResource(parts.brokers),
    rootLevelResource(parts.logging.running.loggers),
    appendersResource(parts.logging),
    loggersResource(parts.logging),
    nameMappingsResource(parts.nameMappings, log),
    deadLetterSearchResource(parts.deadLetterReplay),
    deadLettersResource(parts.deadLetterReplay, (choice, examples) =>
      replayPlan(choice, examples, { replay: parts.deadLetterReplay, readiness: parts.readiness }),
    ),
    metricsResource(parts.metrics),
    prometheusResource(parts.prometheus, version),
    probesResource(parts.readiness),
    verifyResource(parts.verifier),
    ...(parts.configuration === undefined ? [] : [configurationResource(parts.configuration, log)]),
    erasuresResource(parts.erasure),
    ...dashboardResources(parts),
  ];
  const routers = [...resources, openapiResource(version, resources)].map(({ router }) => router);
  return managementFront({ ...parts, countWrongToken: () => parts.prometheus.countWrongToken() }, routers);
}

/** What a page needs that shows the agent. */
function dashboardResources(parts: ManagementParts): readonly Resource[] {
  const { agent, live, stream, version, catalogue, brokers, configuration, reloads, ownConfiguration: own } = parts;
  const origins = new Map(
    catalogue?.list().map(({ definition, folder, origin }) => [definition, folder === undefined ? "deneb" : origin]),
  );
  return [
    accessResource({
      agent: agent.name,
      version,
      started: live.started,
      features: { configuration_files: configuration !== undefined, reload: own !== undefined },
      brokerTargets: brokers.targets,
    }),
    topologyResource(() =>
      topologyView(agent.assembly, {
        agent: agent.name,
        revision: live.revision,
        originOf: (definition) => origins.get(definition) ?? "unknown",
      }),
    ),
    streamResource(stream, live),
    explainResource(parts.explaining),
    arrivalsResource(parts.arrivals),
    ...(own === undefined || catalogue === undefined
      ? []
      : [runningConfigurationResource({ own, catalogue, agent, reloads })]),
  ];
}
