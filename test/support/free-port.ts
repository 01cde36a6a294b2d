import { once } from "node:events";
import { createServer } from "node:net";
import { codeOf } from "../../core/sdk/index.js";

/**
 * Below the ports that the system gives to connections (from 32768 on Linux, from 49152 on macOS): of those, one may be in use by
 * somebody's connection when a server that is started, or started again, wants to listen on it.
 */
const LOWEST = 10_000;
const HIGHEST = 32_000;
const MOST_TRIES = 100;

/** A port of the loopback interface on which nobody listens now. */
export async function freePort(host: string): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    try {
      await listenedOn(host, port);
      return port;
    } catch (error) {
      if (codeOf(error) !== "EADDRINUSE" || attempt === MOST_TRIES) throw error;
    }
  }
}

async function listenedOn(host: string, port: number): Promise<void> {
  const server = createServer().listen(port, host);
  await once(server, "listening");
  server.close();
  await once(server, "close");
}
