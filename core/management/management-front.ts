import { randomUUID } from "node:crypto";
import express, { type ErrorRequestHandler, type Express, type Request, type RequestHandler } from "express";
import { type Logger, reasonOf, retryableOf } from "../sdk/index.js";
import { fail, HttpError } from "./answers.js";
import { pageIsOff, servePage } from "./page/page-handler.js";
import { answerToUnknown } from "./replaced-resources.js";
import { bodyReader, refuseUnreadableQuery } from "./requests.js";
import { type AccessTokens, accessControl, audit, hasTokens } from "./security/access.js";
import { knownHosts, rejectPages, securityHeaders } from "./security/browser-protection.js";
import { WrongTokens } from "./security/wrong-tokens.js";

export interface ManagementAccess {
  readonly tokens: AccessTokens;
  /** True for callers that have checked tokens themselves: the gateway of workers, over a socket that nobody else reaches. */
  readonly trusted?: boolean;
  /** Whether it is served over TLS. */
  readonly tls: boolean;
  /** Host names that calls can use, besides loopback names and the address of the connection. */
  readonly hosts: readonly string[];
  /** Whether the page for browsers is served. */
  readonly page: boolean;
  /** Maximum size of a body, in bytes. */
  readonly bodyLimit: number;
}

interface FrontParts {
  readonly access: ManagementAccess;
  readonly log: Logger;
  /** Called for each wrong token. */
  readonly countWrongToken: () => void;
  /** Gives a request the path whose rules count for it; absent: it keeps its own. */
  readonly readdress?: RequestHandler;
}

/** What every call passes before its resource answers, and what answers when none does. */
export function managementFront(parts: FrontParts, routers: readonly RequestHandler[]): Express {
  const { access, log, countWrongToken, readdress } = parts;
  const app = express();
  app.disable("x-powered-by").disable("etag").enable("case sensitive routing");
  app.use(securityHeaders(), correlate, audit(log), knownHosts(access.hosts));
  app.use(rejectPages({ ...access, needsToken: hasTokens(access.tokens) }), access.page ? servePage() : pageIsOff);
  if (readdress !== undefined) app.use(readdress);
  app.use(accessControl(access, new WrongTokens({ log, count: countWrongToken })));
  app.use(unknownMethod, refuseUnreadableQuery, bodyReader(access.bodyLimit));
  for (const router of routers) app.use(router);
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
      fail(response, status, { error: `${request.method} request could not be read: ${unreadable(error, request)}` });
      return;
    }
    log.error({ method: request.method, path: request.path, reason: reasonOf(error) }, "management request failed");
    // What the caller may repeat, such as a change that a full disk did not take.
    if (retryableOf(error) === true) return fail(response, 503, { error: reasonOf(error) });
    fail(response, 500, { error: "Internal error. See the log of the agent" });
  };
}

/** Express marks errors of the client, such as a path that cannot be decoded, with a 4xx status. */
function clientStatusOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("status" in error)) return undefined;
  const { status } = error;
  return typeof status === "number" && status >= 400 && status < 500 ? status : undefined;
}

/** Why a request could not be read, and what the caller can do. */
function unreadable(error: unknown, request: Request): string {
  const limit = typeof error === "object" && error !== null && "limit" in error ? error.limit : undefined;
  if (limit !== undefined) {
    return `its body is larger than ${limit} bytes; send less, or start the agent with a larger --management-body-limit (DENEB_MANAGEMENT_BODY_LIMIT)`;
  }
  const encoding = request.get("content-encoding");
  if (encoding === undefined) return reasonOf(error);
  return `its body cannot be decoded as its Content-Encoding "${encoding}" says (${reasonOf(error)}); send it without`;
}
