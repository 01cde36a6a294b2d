import { randomUUID } from "node:crypto";
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import type { LetterDesk } from "../agent/letter-desk.js";
import type { Statistics } from "../agent/statistics.js";
import type { EditedText } from "../files/edited-text.js";
import type { LoggingTargets } from "../logging/targets.js";
import { type Logger, reasonOf } from "../sdk/index.js";
import { appendersResource } from "./appenders-resource.js";
import { deadLettersResource } from "./dead-letters-resource.js";
import { fail } from "./envelope.js";
import { loggersResource } from "./loggers-resource.js";
import { nameMappingsResource } from "./name-mappings-resource.js";
import { statisticsResource } from "./statistics-resource.js";
import { versionResource } from "./version-resource.js";

export interface ManagementParts {
  readonly version: string;
  readonly statistics: Statistics;
  readonly logging: LoggingTargets;
  /** The file of the name mappings. */
  readonly nameMappings: EditedText;
  readonly letterDesk?: LetterDesk;
  readonly log: Logger;
}

/** The management interface as an express application: one router for each resource. */
export function managementApp(parts: ManagementParts): Express {
  const { version, statistics, logging, nameMappings, letterDesk, log } = parts;
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing");
  app.use(correlate);
  // Express answers OPTIONS by itself, in plain text.
  app.options(/./, unknownPath);
  app.use(versionResource(version));
  app.use(statisticsResource(statistics));
  app.use(appendersResource(logging));
  app.use(loggersResource(logging));
  app.use(nameMappingsResource(nameMappings, log));
  if (letterDesk !== undefined) app.use(deadLettersResource(letterDesk));
  app.use(unknownPath);
  app.use(unexpectedError(log));
  return app;
}

/** Every answer carries the correlator of its request, or a new one. */
const correlate: RequestHandler = (request, response, next) => {
  response.set("Fiware-Correlator", request.get("fiware-correlator") ?? randomUUID());
  next();
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
