import { once } from "node:events";
import { createServer } from "node:net";

/** A port of the host that nobody listens on. */
export async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host);
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error(`the host "${host}" gave no port`);
  return address.port;
}
