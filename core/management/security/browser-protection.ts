import { isIP } from "node:net";
import type { RequestHandler } from "express";
import { fail } from "../answers.js";

/**
 * Rejects calls whose header Host names another host: a page can make a name of its own resolve to this machine, and a
 * browser then treats both as one site (DNS rebinding). A call without the header does not come from a browser.
 */
export function knownHosts(allowed: readonly string[]): RequestHandler {
  const names = allowed.map((name) => withoutBrackets(name.toLowerCase()));
  return (request, response, next) => {
    const header = request.get("host");
    const host = header === undefined || header === "" ? undefined : hostIn(header);
    const own = request.socket.localAddress?.replace(/^::ffff:/, "");
    if (header === undefined || (host !== undefined && (isLoopback(host) || host === own || isAllowed(host, names)))) {
      next();
      return;
    }
    const remedy = "add it to --management-hosts or DENEB_MANAGEMENT_HOSTS";
    fail(response, 421, { error: `This interface is not known as host ${JSON.stringify(header)}; ${remedy}` });
  };
}

/** True for the names and addresses of the loopback interface. */
function isLoopback(host: string): boolean {
  const name = withoutBrackets(host.toLowerCase());
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}

/** The host of a header, without its port; undefined when it is invalid. */
function hostIn(header: string): string | undefined {
  const [, host] = /^(\[[0-9a-f:.%]+\]|[^\s:@/?#[\]\\]+)(?::\d{1,5})?$/i.exec(header) ?? [];
  return host === undefined ? undefined : withoutBrackets(host.toLowerCase()).replace(/\.$/, "");
}

function isAllowed(host: string, names: readonly string[]): boolean {
  return names.some(
    (name) =>
      name === "*" || name === host || (name.startsWith("*.") && isIP(host) === 0 && host.endsWith(name.slice(1))),
  );
}

function withoutBrackets(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

/** Headers for answers that are not pages: browsers must not cache, frame, sniff or run them. */
export function securityHeaders(tls: boolean): RequestHandler {
  const headers = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    ...(tls ? { "Strict-Transport-Security": "max-age=31536000" } : {}),
  };
  return (_request, response, next) => {
    response.set(headers);
    next();
  };
}

/** Rejects calls that a page in a browser makes: the interface serves no pages, and pages of others must not use it. */
export const rejectPages: RequestHandler = (request, response, next) => {
  const site = request.get("sec-fetch-site");
  const ownPage = site === undefined || site === "same-origin" || site === "none";
  if (ownPage && request.get("origin") === undefined) next();
  else fail(response, 403, { error: "Calls from pages in a browser are refused" });
};
