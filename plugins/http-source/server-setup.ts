import { readFile } from "node:fs/promises";
import type { Server as HttpServer, ServerOptions } from "node:http";
import { createServer, type SecureContextOptions, type Server } from "node:tls";
import { AgentError, codeOf, pemFault } from "deneb/sdk";
import type { HttpConfig } from "./config.js";

export interface TlsOptions extends SecureContextOptions {
  readonly cert: string;
  readonly requestCert: boolean;
}

/** Reads the files of the TLS properties; undefined when there are none. Throws when they cannot be used. */
export async function readTls(config: HttpConfig, source: string): Promise<TlsOptions | undefined> {
  if (config.tls_key === "") return undefined;
  const key = await textOf("tls_key", config, source);
  const cert = await textOf("tls_certificate", config, source);
  const ca = config.tls_client_ca === "" ? {} : { ca: await textOf("tls_client_ca", config, source) };
  const fault = pemFault({ key, cert, ...ca });
  if (fault !== undefined) {
    const property = properties[fault.file];
    const reason = `the file "${config[property]}" of its property "${property}" cannot be used: ${fault.reason}`;
    throw new AgentError("TLS_UNUSABLE", `starting source "${source}": ${reason}`, { retryable: false });
  }
  return { key, cert, ...ca, requestCert: config.tls_client_ca !== "" };
}

const properties = { ca: "tls_client_ca", cert: "tls_certificate", key: "tls_key" } as const;

/** Whether both name the same files, whatever these hold now. */
export function namesSameFiles(one: HttpConfig, other: HttpConfig): boolean {
  return Object.values(properties).every((property) => one[property] === other[property]);
}

/** Speaks TLS on connections that it is given; it does not listen itself. */
export function tlsServer(options: TlsOptions, { headers_timeout, request_timeout }: HttpConfig): Server {
  const handshakeTimeout = headers_timeout || request_timeout;
  const timeout = handshakeTimeout === 0 ? {} : { handshakeTimeout };
  return createServer({ ...options, ...timeout, ALPNProtocols: ["http/1.1"] });
}

async function textOf(
  property: "tls_key" | "tls_certificate" | "tls_client_ca",
  config: HttpConfig,
  source: string,
): Promise<string> {
  try {
    return await readFile(config[property], "utf8");
  } catch (cause) {
    const message = `starting source "${source}": reading "${config[property]}", which property "${property}" names`;
    throw new AgentError("TLS_UNREADABLE", message, { cause, retryable: false });
  }
}

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

export interface ListenAddress {
  readonly source: string;
  readonly host: string;
  readonly port: number;
}

/** The error of a source that cannot listen: the reason and the remedy. */
export function listenFailure({ source, host, port }: ListenAddress, cause: unknown): AgentError {
  const { code, remedy, retryable } = failures.get(codeOf(cause)) ?? unknownFailure;
  const message = `starting source "${source}": listening on port ${port} of "${host}": ${remedy}`;
  return new AgentError(code, message, { cause, retryable });
}

interface ListenFailure {
  readonly code: string;
  readonly remedy: string;
  readonly retryable: boolean;
}

const unknownFailure: ListenFailure = {
  code: "LISTEN_FAILED",
  remedy: `check its properties "port" and "bind"`,
  retryable: false,
};

const failures: ReadonlyMap<string | undefined, ListenFailure> = new Map([
  [
    "EADDRINUSE",
    {
      code: "PORT_IN_USE",
      remedy: `the port is in use; stop the program that has it, or set property "port" to a free one`,
      retryable: true,
    },
  ],
  [
    "EACCES",
    {
      code: "PORT_FORBIDDEN",
      remedy: `this user may not use the port; set property "port" to one above 1023`,
      retryable: false,
    },
  ],
  [
    "EADDRNOTAVAIL",
    {
      code: "ADDRESS_NOT_AVAILABLE",
      remedy: `this machine does not have the address; set property "bind" to one of its own, or to 0.0.0.0`,
      retryable: false,
    },
  ],
]);
