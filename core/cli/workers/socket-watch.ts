import { existsSync } from "node:fs";
import path from "node:path";
import type { ManagementServer } from "../../management/management-server.js";
import { type Logger, reasonOf } from "../../sdk/index.js";
import { prepareSockets } from "./folders.js";

/** Milliseconds between two looks at the file of a socket. */
const PAUSE = 5000;

/**
 * Listens again when the file of the socket is gone, as where something cleans up temporary files; until what it returns is called.
 * Undefined for an agent without one.
 */
export function watchSocket(
  socket: string | undefined,
  server: Pick<ManagementServer, "listenAgain">,
  log: Logger,
): () => void {
  if (socket === undefined) return () => {};
  let isLooking = false;
  const timer = setInterval(async () => {
    if (isLooking) return;
    isLooking = true;
    await look(socket, server, log);
    isLooking = false;
  }, PAUSE).unref();
  return () => clearInterval(timer);
}

async function look(socket: string, server: Pick<ManagementServer, "listenAgain">, log: Logger): Promise<void> {
  try {
    if (existsSync(socket)) return;
    log.warn({ socket }, "the file of the socket was removed; it is made again");
    await prepareSockets(path.dirname(socket));
    await server.listenAgain();
  } catch (error) {
    log.error({ socket, reason: reasonOf(error) }, "the file of the socket cannot be made again");
  }
}
