import { isIP } from "node:net";
import type { Request, RequestHandler } from "express";
import { fail } from "../answers.js";
import { isPageAddress } from "../page/page-address.js";

/**
 * Rejects calls whose header Host names another host: a page can make a name of its own resolve to this machine, and a
 * browser then treats both as one site (DNS rebinding). A call without the header does not come from a browser.
 */
export function knownHosts(allowed: readonly string[]): RequestHandler {
  const names = allowed.map((name) => withoutZone(withoutBrackets(name.toLowerCase())));
  return (request, response, next) => {
    const header = request.get("host");
    const host = header === undefined || header === "" ? undefined : hostIn(header);
    const own = withoutZone(request.socket.localAddress?.replace(/^::ffff:/, "") ?? "");
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
  const [, host] = /^(\[[0-9a-f:.]+(?:%[\w.~-]+)?\]|[^\s:@/?#[\]\\]+)(?::\d{1,5})?$/i.exec(header) ?? [];
  return host === undefined ? undefined : withoutZone(withoutBrackets(host.toLowerCase())).replace(/\.$/, "");
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

/** Without the interface of a link-local address (`fe80::1%eth0`): each machine has its own names of interfaces. */
function withoutZone(host: string): string {
  return host.includes(":") ? host.replace(/%.*$/, "") : host;
}

/**
 * Headers for answers that are not pages: browsers must not cache, frame, sniff or run them. Without Strict-Transport-Security: it
 * would be about the whole host, and browsers would refuse what others on it offer at other ports without TLS.
 */
export function securityHeaders(): RequestHandler {
  const headers = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
  };
  return (_request, response, next) => {
    response.set(headers);
    next();
  };
}

interface PageAccess {
  /** Whether the interface serves a page of its own, whose calls are accepted. */
  readonly page: boolean;
  readonly tls: boolean;
  /** Host names that calls can use, and whether a token is needed to change anything. */
  readonly hosts: readonly string[];
  readonly needsToken: boolean;
}

/**
 * Rejects calls that pages of other sites make through a browser, by links, forms and scripts. A browser says where a call
 * comes from; the page of the interface comes from the host that it calls. A person may open it from anywhere.
 */
export function rejectPages(access: PageAccess): RequestHandler {
  const { page } = access;
  const originRefusal = page ? originCheck(access) : () => anyPage;
  return (request, response, next) => {
    const origin = request.get("origin");
    const error =
      origin === undefined
        ? siteRefusal(request, page)
        : (siteRefusal(request, page) ?? originRefusal(origin, request.get("host") ?? ""));
    if (error === undefined || (page && origin === undefined && isOpening(request))) next();
    else fail(response, 403, { error });
  };
}

/** Why a call is refused by what the browser says of the site that it comes from; undefined when it is not. */
function siteRefusal(request: Request, page: boolean): string | undefined {
  const site = request.get("sec-fetch-site") ?? "none";
  if (site === "same-origin" || site === "none") return undefined;
  return page ? foreign : anyPage;
}

/** Why a call with a header Origin is refused, where the interface has a page; undefined when it is its own. */
function originCheck({ tls, hosts, needsToken }: PageAccess) {
  const schemes = tls ? ["https"] : ["http", "https"];
  // With any host a page can give itself a name of this machine; only a token that it does not have keeps it out.
  const anyHost = hosts.includes("*") && !needsToken;
  return (origin: string, host: string) => {
    if (!schemes.some((scheme) => origin === `${scheme}://${host}`)) return foreign;
    return anyHost && !isLoopback(hostIn(host) ?? "") ? unnamed : undefined;
  };
}

const anyPage = "Calls from pages in a browser are refused";
const foreign =
  "Calls from pages of other sites are refused. A proxy before the page must pass on the header Host of the browser";
const unnamed = "Calls from the page need a token, or the name of this host in --management-hosts in place of *";

/** Whether a person opens the page, by a link of any site: the document holds nothing of the agent and cannot be framed. */
function isOpening(request: Request): boolean {
  const { method, path } = request;
  const isDocument = request.get("sec-fetch-mode") === "navigate" && request.get("sec-fetch-dest") === "document";
  return method === "GET" && isPageAddress(path) && isDocument;
}
