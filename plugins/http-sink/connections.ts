import { readFile } from "node:fs/promises";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import type { Duplex } from "node:stream";
import { readTlsFiles, type TlsClientOptions } from "deneb/sdk";
import type { HttpSinkConfig } from "./config.js";

/** The header with the credentials of a sink; none without credentials. */
export function authorization({ bearer_token, username, password }: HttpSinkConfig): Readonly<Record<string, string>> {
  if (bearer_token !== "") return { Authorization: `Bearer ${bearer_token}` };
  if (username === "") return {};
  return { Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

type Tls = TlsClientOptions<Buffer> | undefined;

/** What is in the files of certificates now; undefined for plain HTTP. Rejects with code `CERTIFICATE_UNREADABLE`. */
export async function readTls(config: HttpSinkConfig, sink: string): Promise<Tls> {
  if (!/^https:/i.test(config.url)) return undefined;
  return await readTlsFiles(config, `sink "${sink}"`, (file) => readFile(file));
}

/** Creates the agent that keeps the connections of a sink open. */
export function connections({ max_connections: maxSockets }: HttpSinkConfig, tls: Tls): HttpAgent {
  const options = { keepAlive: true, maxSockets };
  const agent = tls === undefined ? new HttpAgent(options) : new HttpsAgent({ ...options, ...tls });
  closeOnUnasked(agent);
  return agent;
}

/**
 * Closes a kept connection on which something comes while no request is under way, as the 408 of a server that is about to close
 * it, or a second response to one request: the next request would take it, or what follows it, as its answer.
 */
function closeOnUnasked(agent: HttpAgent): void {
  const keep = agent.keepSocketAlive.bind(agent);
  const reuse = agent.reuseSocket.bind(agent);
  agent.keepSocketAlive = (socket: Duplex) => {
    socket.on("data", close);
    return keep(socket);
  };
  agent.reuseSocket = (socket: Duplex, request) => {
    socket.off("data", close);
    reuse(socket, request);
  };
}

function close(this: Duplex): void {
  this.destroy();
}
