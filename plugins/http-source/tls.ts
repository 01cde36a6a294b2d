import { readFile } from "node:fs/promises";
import { createServer, type SecureContextOptions, type Server } from "node:tls";
import { AgentError, pemFault } from "deneb/sdk";
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
