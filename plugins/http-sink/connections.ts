import { readFile } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { AgentError, codeOf } from "deneb/sdk";
import type { HttpSinkConfig } from "./config.js";

/** Makes what keeps the connections of a sink open; reads the certificate files. Rejects with code `CERTIFICATE_UNREADABLE`. */
export async function connections(config: HttpSinkConfig, sink: string): Promise<HttpAgent> {
  const options = { keepAlive: true, maxSockets: config.max_connections };
  if (!/^https:/i.test(config.url)) return new HttpAgent(options);
  const ca = await contents("tls_ca_file", config.tls_ca_file, sink);
  const cert = await contents("tls_cert_file", config.tls_cert_file, sink);
  const key = await contents("tls_key_file", config.tls_key_file, sink);
  return new HttpsAgent({
    ...options,
    rejectUnauthorized: config.tls_verify,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  });
}

async function contents(property: string, path: string, sink: string): Promise<Buffer | undefined> {
  if (path === "") return undefined;
  try {
    return await readFile(path);
  } catch (cause) {
    const reason = `reading the file "${path}" of its property "${property}" (${codeOf(cause)})`;
    throw new AgentError("CERTIFICATE_UNREADABLE", `starting sink "${sink}": ${reason}`, { cause, retryable: false });
  }
}
