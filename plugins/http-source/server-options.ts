import type { ServerOptions } from "node:http";
import type { HttpConfig } from "./config.js";

/** The settings of Node's server, under the names that its options and its properties share. */
export function serverOptions(config: HttpConfig): ServerOptions {
  const { request_timeout, headers_timeout } = config;
  return {
    maxHeaderSize: config.max_header_size,
    keepAliveTimeout: config.keep_alive_timeout,
    requestTimeout: request_timeout,
    headersTimeout: headers_timeout,
    connectionsCheckingInterval: lookEvery(config),
  };
}

/** Milliseconds between two looks for stalled requests; Node's default, 30 s, would be far later than the time-outs promise. */
export function lookEvery({ request_timeout, headers_timeout }: HttpConfig): number {
  return Math.min(1000, request_timeout || 1000, headers_timeout || 1000);
}
