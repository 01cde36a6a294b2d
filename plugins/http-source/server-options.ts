import type { Server as HttpServer, ServerOptions } from "node:http";
import type { HttpConfig } from "./config.js";

interface ServerSettings extends ServerOptions, Pick<HttpServer, "maxHeadersCount"> {
  /** A property of Node's server that its documentation does not have. */
  readonly httpAllowHalfOpen: boolean;
}

/** The settings of Node's server, under the names that its options and its properties share. */
export function serverOptions(config: HttpConfig): ServerSettings {
  const { request_timeout, headers_timeout } = config;
  return {
    maxHeaderSize: config.max_header_size,
    // Node drops headers beyond a number, 2000 by default; the size allows no more than this.
    maxHeadersCount: config.max_header_size,
    // Its own answer to a request without one has no reason and is not counted.
    requireHostHeader: false,
    // A sender that ends its side still gets its responses; otherwise Node drops those that are not written yet.
    httpAllowHalfOpen: true,
    keepAliveTimeout: config.keep_alive_timeout,
    requestTimeout: request_timeout,
    headersTimeout: headers_timeout,
    connectionsCheckingInterval: checkInterval(config),
  };
}

/** Milliseconds between two checks for stalled requests; Node's default, 30 s, is far longer than the time-outs. */
export function checkInterval({ request_timeout, headers_timeout }: HttpConfig): number {
  return Math.min(1000, request_timeout || 1000, headers_timeout || 1000);
}
