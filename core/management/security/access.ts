import { createHash, timingSafeEqual } from "node:crypto";
import type { Request, RequestHandler, Response } from "express";
import type { Logger } from "../../sdk/index.js";
import { fail } from "../answers.js";
import { disconnected, isChanging, parameterOf } from "../requests.js";
import type { WrongTokens } from "./wrong-tokens.js";

/** They may change while calls come; that there are any does not. */
export interface AccessTokens {
  readonly read: readonly string[];
  readonly admin: readonly string[];
}

/** The rights of a caller: `open` without configured tokens, `wrong` for a token that is not among them. */
type Role = "open" | "none" | "wrong" | "read" | "admin";

const onlyReads = "This token may only read counts and states. Use an admin token";

/** Requires a bearer token if tokens are configured: of either role to read, of the admin role to change anything. */
export function accessControl(
  { tokens, trusted = false }: { readonly tokens: AccessTokens; readonly trusted?: boolean },
  wrongTokens: WrongTokens,
): RequestHandler {
  const roleOf = trusted ? () => "admin" as const : roles(tokens);
  return async (request, response, next) => {
    const role = roleOf(request);
    response.locals["role"] = role === "wrong" ? "none" : role;
    response.locals["isStillKnown"] = () => !["none", "wrong"].includes(roleOf(request));
    if (role === "open" || role === "admin" || isProbe(request) || (role === "read" && !isChanging(request))) {
      next();
      return;
    }
    if (role === "read") {
      fail(response, 403, { error: onlyReads });
      return;
    }
    if (role === "wrong" && !(await isHeld(wrongTokens, request, response))) {
      response.set({ "Retry-After": "5", Connection: "close" });
      fail(response, 429, { error: "Too many wrong tokens are waiting for their answer. Try again later" });
      return;
    }
    response.set("WWW-Authenticate", 'Bearer realm="deneb"');
    fail(response, 401, { error: "A valid bearer token is required (header Authorization)" });
  };
}

/** Whether a call that lasts still comes from a caller that is allowed to make it: its token may have been replaced meanwhile. */
export function isStillKnown({ locals }: Response): boolean {
  const look: unknown = locals["isStillKnown"];
  return typeof look !== "function" || look() === true;
}

/** Waits for the delay of a wrong token, or until the caller disconnects. */
async function isHeld(wrongTokens: WrongTokens, { socket }: Request, response: Response): Promise<boolean> {
  return await wrongTokens.held(socket.remoteAddress ?? "", disconnected(response));
}

/** Rejects a read token where more than counts and states is shown: data of notifications, calls to other servers. */
export const adminOnly: RequestHandler = (_request, response, next) => {
  if (response.locals["role"] === "read") fail(response, 403, { error: onlyReads });
  else next();
};

/** For what would give every user of the machine the rights of the agent: a call needs an admin token, also on loopback. */
export const adminTokenOnly: RequestHandler = (_request, response, next) => {
  const role: unknown = response.locals["role"];
  if (role === "admin") return next();
  const missing = "This needs an admin token; configure one (DENEB_MANAGEMENT_ADMIN_TOKENS)";
  fail(response, 403, { error: role === "read" ? onlyReads : missing });
};

/** Whether calls need a token. */
export function hasTokens({ read, admin }: AccessTokens): boolean {
  return read.length + admin.length > 0;
}

/** Orchestrators call these without a token; the answers hold no more than names of components. */
function isProbe({ method, path }: Request): boolean {
  return method === "GET" && /^\/(live|ready)\/?$/.test(path);
}

function roles(tokens: AccessTokens): (request: Request) => Role {
  if (!hasTokens(tokens)) return () => "open";
  return (request) => {
    const [, token] = /^Bearer +(\S+)$/i.exec(request.get("authorization") ?? "") ?? [];
    if (token === undefined) return "none";
    const given = digest(token);
    const mayRead = holds(tokens.read, given);
    return holds(tokens.admin, given) ? "admin" : mayRead ? "read" : "wrong";
  };
}

/** Compares with every token, in a time that does not depend on where they differ. */
function holds(known: readonly string[], given: Buffer): boolean {
  return known.map((token) => timingSafeEqual(digest(token), given)).includes(true);
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** The parameters that are logged; others can hold anything, secrets included. */
const shownParameters = [
  ...["name", "transient", "level", "ngsi_version", "subscription_id", "reset", "param"],
  ...["sink", "service", "entity", "reason", "since", "all", "dry_run"],
] as const;

/** Logs each call that changes something, rejected ones included: caller, operation and status. */
export function audit(log: Logger): RequestHandler {
  return (request, response, next) => {
    if (isChanging(request)) {
      const { method, path } = request;
      const address = request.socket.remoteAddress;
      const parameters = Object.fromEntries(shownParameters.map((name) => [name, parameterOf(request, name)]));
      response.once("close", () => {
        const role: unknown = response.locals["role"];
        const correlator = response.get("fiware-correlator");
        const ended = response.writableFinished ? { status: response.statusCode } : { status: "abandoned" };
        log.info({ method, path, parameters, ...ended, role, address, correlator }, "management call");
      });
    }
    next();
  };
}
