import { randomUUID } from "node:crypto";
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import type { Agent } from "../agent/agent.js";
import type { AgentErasure } from "../agent/agent-erasure.js";
import type { ArrivalSample } from "../agent/arrivals/arrival-sample.js";
import type { DeadLetterReplay } from "../agent/dead-letter-replay.js";
import type { ExplainRunning } from "../agent/explain-running.js";
import type { LiveView } from "../agent/live/live-view.js";
import type { Readiness } from "../agent/readiness.js";
import type { Reload } from "../agent/reload.js";
import { replayPlan } from "../agent/replay-plan.js";
import type { Statistics } from "../agent/statistics.js";
import { topologyView } from "../agent/topology-view.js";
import type { Verifier } from "../agent/verifier.js";
import type { EditedText } from "../files/edited-text.js";
import type { LoggingTargets } from "../logging/definitions.js";
import type { Prometheus } from "../metrics/prometheus.js";
import type { TransactionMetrics } from "../metrics/transaction-metrics.js";
import { type Logger, reasonOf } from "../sdk/index.js";
import type { PluginCatalogue } from "../tokens.js";
import { accessResource } from "./access-resource.js";
import { probesResource, statisticsResource, versionResource } from "./agent-resources.js";
import { fail, HttpError } from "./answers.js";
import { arrivalsResource } from "./arrivals-resource.js";
import { type ConfigurationAccess, configurationResource } from "./configuration/configuration-resource.js";
import { type OwnConfiguration, runningConfigurationResource } from "./configuration/running-configuration-resource.js";
import { deadLetterSearchResource } from "./dead-letter-search-resource.js";
import { deadLettersResource } from "./dead-letters-resource.js";
import { erasuresResource } from "./erasures-resource.js";
import { explainResource } from "./explain-resource.js";
import { streamResource, topologyResource } from "./live/live-resources.js";
import type { LiveStream } from "./live/live-stream.js";
import { appendersResource, loggersResource } from "./logging-resources.js";
import { metricsResource, prometheusResource } from "./metrics-resources.js";
import { nameMappingsResource } from "./name-mappings-resource.js";
import { openapiResource, type Resource } from "./openapi.js";
import { pageIsOff, servePage } from "./page/page-handler.js";
import { answerToUnknown } from "./replaced-resources.js";
import { bodyReader } from "./requests.js";
import { rootLevelResource } from "./root-level-resource.js";
import { type AccessTokens, accessControl, audit, hasTokens } from "./security/access.js";
import { knownHosts, rejectPages, securityHeaders } from "./security/browser-protection.js";
import { WrongTokens } from "./security/wrong-tokens.js";
import type { BrokerClient } from "./subscriptions/broker-client.js";
import { subscriptionsResource } from "./subscriptions/subscriptions-resource.js";
import { verifyResource } from "./verify-resource.js";

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

export interface ManagementAccess {
  readonly tokens: AccessTokens;
  /** Whether it is served over TLS. */
  readonly tls: boolean;
  /** Host names that calls can use, besides loopback names and the address of the connection. */
  readonly hosts: readonly string[];
  /** Whether the page for browsers is served. */
  readonly page: boolean;
  /** Maximum size of a body, in bytes. */
  readonly bodyLimit: number;
}

/** The management interface as an express application. A new resource is one file and one line in `resources`. */
export function managementApp(parts: ManagementParts): Express {
  const { version, access, log } = parts;
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing");
  const wrongTokens = new WrongTokens({ log, count: () => parts.prometheus.countWrongToken() });
  app.use(securityHeaders(access.tls), correlate, audit(log), knownHosts(access.hosts));
  app.use(rejectPages({ ...access, needsToken: hasTokens(access.tokens) }), access.page ? servePage() : pageIsOff);
  app.use(accessControl(access.tokens, wrongTokens));
  app.use(unknownMethod, bodyReader(access.bodyLimit));
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
  for (const { router } of [...resources, openapiResource(version, resources)]) app.use(router);
  app.use(unknownPath);
  app.use(unexpectedError(log));
  return app;
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

/** Every answer carries the correlator of its request, or a new one. */
const correlate: RequestHandler = (request, response, next) => {
  response.set("Fiware-Correlator", request.get("fiware-correlator") || randomUUID());
  next();
};

const methods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "DELETE"]);

/** Without this, express answers HEAD and OPTIONS itself. */
const unknownMethod: RequestHandler = (request, response, next) => {
  if (methods.has(request.method)) next();
  else unknownPath(request, response, next);
};

const unknownPath: RequestHandler = (request, response) => {
  const { status, error } = answerToUnknown(request.method, request.path);
  fail(response, status, { error });
};

function unexpectedError(log: Logger): ErrorRequestHandler {
  return (error, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    if (error instanceof HttpError) {
      fail(response, error.status, error.payload);
      return;
    }
    const status = clientStatusOf(error);
    if (status !== undefined) {
      fail(response, status, { error: `${request.method} request could not be read` });
      return;
    }
    log.error({ method: request.method, path: request.path, reason: reasonOf(error) }, "management request failed");
    fail(response, 500, { error: "Internal error. See the log of the agent" });
  };
}

/** Express marks errors of the client, such as a path that cannot be decoded, with a 4xx status. */
function clientStatusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("status" in error)) return undefined;
  const { status } = error;
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}
