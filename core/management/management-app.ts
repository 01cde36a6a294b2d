import { randomUUID } from "node:crypto";
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import type { DeadLetterReplay } from "../agent/dead-letter-replay.js";
import type { Readiness } from "../agent/readiness.js";
import type { Statistics } from "../agent/statistics.js";
import type { Verifier } from "../agent/verifier.js";
import type { EditedText } from "../files/edited-text.js";
import type { LoggingTargets } from "../logging/targets.js";
import type { Prometheus } from "../metrics/prometheus.js";
import type { TransactionMetrics } from "../metrics/transaction-metrics.js";
import { type Logger, reasonOf } from "../sdk/index.js";
import { appendersResource } from "./appenders-resource.js";
import type { BrokerClient } from "./broker/broker-client.js";
import { deadLettersResource } from "./dead-letters-resource.js";
import { fail } from "./envelope.js";
import { loggersResource } from "./loggers-resource.js";
import { metricsResource } from "./metrics-resource.js";
import { nameMappingsResource } from "./name-mappings-resource.js";
import { openapiResource } from "./openapi/openapi-resource.js";
import { probesResource } from "./probes-resource.js";
import { prometheusResource } from "./prometheus-resource.js";
import { RefusedCall } from "./refused-call.js";
import { bodyReader } from "./request-text.js";
import { type AccessTokens, accessControl } from "./security/access.js";
import { audit } from "./security/audit.js";
import { refusePages, securityHeaders } from "./security/headers.js";
import { knownHosts } from "./security/known-hosts.js";
import { WrongTokens } from "./security/wrong-tokens.js";
import { statisticsResource } from "./statistics-resource.js";
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
  readonly brokers: BrokerClient;
  readonly access: ManagementAccess;
  readonly logging: LoggingTargets;
  /** The file of the name mappings. */
  readonly nameMappings: EditedText;
  readonly deadLetterReplay: DeadLetterReplay;
  readonly log: Logger;
}

export interface ManagementAccess {
  readonly tokens: AccessTokens;
  /** Whether it is served over TLS. */
  readonly tls: boolean;
  /** Names besides those of loopback and the address of a connection under which it may be called. */
  readonly hosts: readonly string[];
  /** Largest body of a request, in bytes. */
  readonly bodyLimit: number;
}

/** The management interface as an express application: one router for each resource. */
export function managementApp(parts: ManagementParts): Express {
  const { version, access, log } = parts;
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing");
  const wrongTokens = new WrongTokens({ log, count: () => parts.prometheus.countWrongToken() });
  app.use(securityHeaders(access.tls), correlate, audit(log), knownHosts(access.hosts), refusePages);
  app.use(accessControl(access.tokens, wrongTokens));
  app.use(unknownMethod, bodyReader(access.bodyLimit));
  app.use(versionResource(version));
  app.use(statisticsResource(parts.statistics));
  app.use(subscriptionsResource(parts.brokers));
  app.use(appendersResource(parts.logging));
  app.use(loggersResource(parts.logging));
  app.use(nameMappingsResource(parts.nameMappings, log));
  app.use(deadLettersResource(parts.deadLetterReplay));
  app.use(metricsResource(parts.metrics));
  app.use(prometheusResource(parts.prometheus, version));
  app.use(probesResource(parts.readiness));
  app.use(verifyResource(parts.verifier));
  app.use(openapiResource(version));
  app.use(unknownPath);
  app.use(unexpectedError(log));
  return app;
}

/** Every answer carries the correlator of its request, or a new one. */
const correlate: RequestHandler = (request, response, next) => {
  response.set("Fiware-Correlator", request.get("fiware-correlator") || randomUUID());
  next();
};

const methods: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "DELETE"]);

/** Express would answer HEAD and OPTIONS by itself. */
const unknownMethod: RequestHandler = (request, response, next) => {
  if (methods.has(request.method)) next();
  else unknownPath(request, response, next);
};

const unknownPath: RequestHandler = (request, response) => {
  fail(response, 404, { error: `${request.method} ${request.path} not found` });
};

function unexpectedError(log: Logger): ErrorRequestHandler {
  return (error, request, response, next) => {
    if (response.headersSent) {
      next(error);
      return;
    }
    if (error instanceof RefusedCall) {
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

/** Express marks what the client did wrong (a path that cannot be decoded, for one) with a 4xx status. */
function clientStatusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("status" in error)) return undefined;
  const { status } = error;
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}
