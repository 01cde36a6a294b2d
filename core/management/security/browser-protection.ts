import { isIP } from "node:net";
import type { RequestHandler } from "express";
import { fail } from "../answers.js";

/**
 * Refuses calls that name another host than this interface has: a page can let a name of its own point to this machine,
 * and a browser then takes both for one site (DNS rebinding). A call without the header comes from no browser.
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

/** True for the names and addresses that never leave a machine. */
export function isLoopback(host: string): boolean {
  const name = withoutBrackets(host.toLowerCase());
  return name === "localhost" || name === "::1" || /^127(\.\d{1,3}){3}$/.test(name);
}

/** The host of a header, without its port; undefined when it is not one. */
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

/** Nothing here is a page: it is not to be kept, framed, guessed at or run. */
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

/** Browsers say when a page makes them call; there are no pages here, and nobody operates an agent from another one. */
export const refusePages: RequestHandler = (request, response, next) => {
  const site = request.get("sec-fetch-site");
  const ownPage = site === undefined || site === "same-origin" || site === "none";
  if (ownPage && request.get("origin") === undefined) next();
  else fail(response, 403, { error: "Calls from pages in a browser are refused" });
};
