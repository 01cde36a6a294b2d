import { readFile } from "node:fs/promises";
import { createSecureContext, createServer, type SecureContextOptions, type Server } from "node:tls";
import { AgentError } from "deneb/sdk";
import type { HttpConfig } from "./config.js";

export interface TlsOptions extends SecureContextOptions {
  readonly requestCert: boolean;
}

/** Reads the files of the TLS properties; undefined when there are none. Throws when they cannot be used. */
export async function readTls(config: HttpConfig, source: string): Promise<TlsOptions | undefined> {
  if (config.tls_key === "") return undefined;
  const key = await textOf("tls_key", config, source);
  const cert = await textOf("tls_certificate", config, source);
  const ca = config.tls_client_ca === "" ? {} : { ca: await textOf("tls_client_ca", config, source) };
  const options = { key, cert, ...ca, requestCert: config.tls_client_ca !== "" };
  try {
    createSecureContext(options);
  } catch (cause) {
    const remedy = "tls_key, tls_certificate and tls_client_ca must name PEM files that belong together";
    throw new AgentError("TLS_UNUSABLE", `starting source "${source}": ${remedy}`, { cause, retryable: false });
  }
  return options;
}

/** Speaks TLS on connections that are given to it; it does not listen itself. */
export function tlsServer(options: TlsOptions, { headers_timeout, request_timeout }: HttpConfig): Server {
  const handshakeTimeout = headers_timeout || request_timeout;
  const patience = handshakeTimeout === 0 ? {} : { handshakeTimeout };
  return createServer({ ...options, ...patience, ALPNProtocols: ["http/1.1"] });
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
