import { once } from "node:events";
import { createServer, type Server } from "node:net";
import type { TestContext } from "node:test";

const SSL_REQUEST = 80_877_103;

/** A PostgreSQL server without TLS that refuses every connection with this SQLSTATE, in a message that may lack its end; its port. */
export async function refusingServer(
  context: TestContext,
  sqlState: string,
  message: string,
  { ended }: { readonly ended: boolean } = { ended: true },
): Promise<number> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      if (data.length >= 8 && data.readInt32BE(4) === SSL_REQUEST) socket.write("N");
      else socket.end(errorResponse(sqlState, message, ended));
    });
  }).listen(0, "127.0.0.1");
  context.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** A server that accepts connections and says nothing, and its port. */
export async function silentServer(
  context: TestContext,
): Promise<{ readonly port: number; readonly connections: Server }> {
  const connections = createServer((socket) => {
    context.after(() => socket.destroy());
    socket.on("error", () => undefined);
    socket.resume();
  }).listen(0, "127.0.0.1");
  context.after(() => connections.close());
  await once(connections, "listening");
  const address = connections.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, connections };
}

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

function errorResponse(sqlState: string, message: string, ended: boolean): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0M${message}\0${ended ? "\0" : ""}`);
  const head = Buffer.alloc(5, "E");
  head.writeInt32BE(fields.length + 4, 1);
  return Buffer.concat([head, fields]);
}
