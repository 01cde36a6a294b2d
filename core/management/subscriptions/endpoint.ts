import type { BrokerEndpoint } from "../broker/broker-endpoint.js";
import { badRequest } from "../refused-call.js";
import type { Fields } from "./fields.js";
import { invalid } from "./messages.js";

/** The endpoint object of a request, its members as they were given. */
export interface GivenEndpoint {
  readonly host: string | undefined;
  readonly port: string | undefined;
  readonly ssl: string | undefined;
  readonly token: string | undefined;
}

/** Throws only for members of the wrong kind. */
export function readEndpoint(fields: Fields | undefined): GivenEndpoint {
  return {
    host: fields?.text("host"),
    port: fields?.text("port"),
    ssl: fields?.text("ssl"),
    token: fields?.text("xauthtoken"),
  };
}

/** The endpoint to call. Throws the documented refusal of the first check that fails. */
export function checkedEndpoint({ host, port, ssl, token }: GivenEndpoint): BrokerEndpoint {
  if (host === undefined && port === undefined && ssl === undefined && token === undefined) {
    throw badRequest("Missing endpoint");
  }
  if (ssl === undefined) throw invalid("endpoint", "ssl", "is missing");
  if (host === undefined) throw invalid("endpoint", "host", "is missing");
  if (port === undefined) throw invalid("endpoint", "port", "is missing");
  if (host === "") throw invalid("endpoint", "host", "is empty");
  if (port === "") throw invalid("endpoint", "port", "is empty");
  if (ssl === "") throw invalid("endpoint", "ssl", "is empty");
  if (ssl !== "true" && ssl !== "false") throw invalid("endpoint", "ssl", "invalid");
  if (!/^[\w.-]+$|^\[?[\da-f:.]+\]?$/i.test(host)) throw invalid("endpoint", "host", "invalid");
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    throw invalid("endpoint", "port", "invalid");
  const plainHost = host.replaceAll(/[[\]]/g, "");
  return { host: plainHost, port: Number(port), tls: ssl === "true", token: token === "" ? undefined : token };
}

/** Deleting needs a token, whatever the broker thinks of it. */
export function checkToken({ token }: GivenEndpoint): void {
  if (token === undefined) throw badRequest("Missing Auth-Token. Required for DELETE subscriptions");
  if (token === "") throw badRequest("Empty Auth-Token. Required for DELETE subscriptions");
}
