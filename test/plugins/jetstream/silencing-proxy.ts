import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** Stands before a server; what that answers can be made to get lost. What a client sends waits for `passing`. */
export async function silencingProxy(
  context: TestContext,
  port: number,
  passing: (data: Buffer) => Promise<void> = async () => {},
) {
  const sockets = new Set<Socket>();
  let silent = false;
  let changed = (data: Buffer): Buffer => data;
  const server = createServer((client) => {
    const upstream = connect({ host: "127.0.0.1", port });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    let passed = Promise.resolve();
    client.on("data", (data: Buffer) => {
      passed = passed.then(() => passing(data)).then(() => void upstream.write(data));
    });
    upstream.on("data", (data) => {
      if (!silent) client.write(changed(data));
    });
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  context.after(() => {
    cut();
    server.close();
  });
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the proxy has no port");
  const silence = (on: boolean): void => {
    silent = on;
  };
  /** What the server answers comes as this says. */
  const change = (next: typeof changed): void => {
    changed = next;
  };
  return { url: `nats://127.0.0.1:${address.port}`, silence, change, cut };
}
