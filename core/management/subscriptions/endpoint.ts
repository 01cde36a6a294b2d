import { badRequest } from "../answers.js";
import type { BrokerEndpoint } from "./broker-targets.js";
import { type Fields, invalid } from "./fields.js";

/** The endpoint object of a request, before its checks. */
export interface GivenEndpoint {
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly ssl: string | undefined;
  readonly path: string | undefined;
  readonly token: string | undefined;
}

/** Throws only for members of the wrong type. The token has two spellings in use: `xauthtoken` and `authToken`. */
export function readEndpoint(fields: Fields | undefined): GivenEndpoint {
  const other = fields?.text("authToken");
  return {
    host: fields?.text("host"),
    port: fields?.text("port"),
    ssl: fields?.text("ssl"),
    path: fields?.text("path"),
    token: fields?.text("xauthtoken") ?? other,
  };
}

/** The endpoint to call. Throws the documented error of the first check that fails. */
export function checkedEndpoint({ host, port, ssl, path, token }: GivenEndpoint): BrokerEndpoint {
  if ([host, port, ssl, token].every((member) => member === undefined)) throw badRequest("Missing endpoint");
  if (ssl === undefined) throw invalid("endpoint", "ssl", "is missing");
  if (host === undefined) throw invalid("endpoint", "host", "is missing");
  if (port === undefined) throw invalid("endpoint", "port", "is missing");
  if (host === "") throw invalid("endpoint", "host", "is empty");
  if (port === "") throw invalid("endpoint", "port", "is empty");
  if (ssl === "") throw invalid("endpoint", "ssl", "is empty");
  if (ssl !== "true" && ssl !== "false") throw invalid("endpoint", "ssl", "invalid");
  if (!HOST.test(host)) throw invalid("endpoint", "host", "invalid");
  if (!isPort(port)) throw invalid("endpoint", "port", "invalid");
  if (!TOKEN.test(token ?? "")) throw invalid("endpoint", "xauthtoken", "invalid");
  return {
    host: host.replaceAll(/[[\]]/g, ""),
    port: Number(port),
    tls: ssl === "true",
    prefix: prefixOf(path ?? ""),
    token: token === "" ? undefined : token,
  };
}

const HOST = /^[\w.-]+$|^\[?[\da-f:.]+\]?$/i;

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
}

/** What an HTTP header can have. */
const TOKEN = /^[\x20-\x7e]*$/;

/** Nothing that is encoded, begins a query or leads to another folder. */
const PREFIX = /^(?:\/[\w.~:@+-]+)*$/;

/** The path prefix in its one form: with a slash before each part and none behind. */
function prefixOf(path: string): string {
  const bare = path.replace(/^\//, "").replace(/\/$/, "");
  const prefix = bare === "" ? "" : `/${bare}`;
  if (prefix.length > 1000 || !PREFIX.test(prefix) || prefix.split("/").some((part) => /^\.+$/.test(part))) {
    throw invalid("endpoint", "path", "invalid");
  }
  return prefix;
}

/** A token that is given for deleting must not be empty. A broker without authentication needs none. */
export function checkToken({ token }: GivenEndpoint): void {
  if (token === "") throw badRequest("Empty Auth-Token. Required for DELETE subscriptions");
}
