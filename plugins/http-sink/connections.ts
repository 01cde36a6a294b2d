import { readFile } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { readTlsFiles } from "deneb/sdk";
import type { HttpSinkConfig } from "./config.js";

/** The header with the credentials of a sink; none without credentials. */
export function authorization({ bearer_token, username, password }: HttpSinkConfig): Readonly<Record<string, string>> {
  if (bearer_token !== "") return { Authorization: `Bearer ${bearer_token}` };
  if (username === "") return {};
  return { Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

/** Creates the agent that keeps the connections of a sink open; reads the certificate files. Rejects with code `CERTIFICATE_UNREADABLE`. */
export async function connections(config: HttpSinkConfig, sink: string): Promise<HttpAgent> {
  const options = { keepAlive: true, maxSockets: config.max_connections };
  if (!/^https:/i.test(config.url)) return new HttpAgent(options);
  return new HttpsAgent({ ...options, ...(await readTlsFiles(config, `sink "${sink}"`, (file) => readFile(file))) });
}

/** Whether connections depend on files, which may be replaced while the agent runs. */
export function dependsOnFiles({ url, tls_ca_file, tls_cert_file }: HttpSinkConfig): boolean {
  return /^https:/i.test(url) && (tls_ca_file !== "" || tls_cert_file !== "");
}
