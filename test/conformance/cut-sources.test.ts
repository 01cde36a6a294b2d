import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { definePlugin, type SourceContext } from "../../core/sdk/index.js";
import { type ConformanceInlet, pluginConformance } from "../../core/testing/index.js";

/** A broker that sends each connection what was not acknowledged: a line for each message, which the source sends back. */
async function broker(): Promise<ConformanceInlet> {
  const kept: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    linesOf(socket, (line) => kept.splice(kept.indexOf(line), 1));
    for (const line of kept) socket.write(`${line}\n`);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    config: { port },
    async send(text) {
      kept.push(text);
      for (const socket of sockets) socket.write(`${text}\n`);
      return true;
    },
    tcp: { host: "127.0.0.1", port, through: (way) => ({ port: way }) },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Calls it for each line; a connection that ends is no error. */
function linesOf(socket: Socket, each: (line: string) => unknown): void {
  createInterface({ input: socket })
    .on("line", each)
    .on("error", () => undefined);
}

/** Hands over lines, one after another or each by itself, and sends back those that are taken. */
function reader(inTurn: boolean) {
  return definePlugin({
    apiVersion: 1,
    kind: "source",
    type: "lines",
    summary: "Takes lines.",
    stability: "beta",
    config: { port: { doc: "Port of the broker.", format: "port" } },
    create: ({ port }, { emit }: SourceContext<unknown>) => {
      const stopping = new AbortController();
      const ended: Promise<unknown>[] = [];
      let connection: Socket | undefined;
      const take = async (line: string, socket: Socket): Promise<void> => {
        while (!stopping.signal.aborted && !socket.destroyed) {
          const isTaken = await emit([{ headers: {}, body: line }]).then(
            () => true,
            () => setTimeout(5, false),
          );
          if (isTaken && socket.writable) socket.write(`${line}\n`);
          if (isTaken) return;
        }
      };
      const open = () => {
        if (stopping.signal.aborted) return;
        const socket = connect(port, "127.0.0.1");
        connection = socket;
        let before = Promise.resolve();
        linesOf(socket, (line) => {
          before = inTurn ? before.then(() => take(line, socket)) : take(line, socket);
          ended.push(before);
        });
        socket.on("error", () => undefined).on("close", () => open());
      };
      return {
        start: async () => open(),
        async stop() {
          stopping.abort();
          connection?.destroy();
          await Promise.all(ended);
        },
      };
    },
  });
}

async function reasonsOf(inTurn: boolean): Promise<readonly string[]> {
  const cases = await pluginConformance(reader(inTurn), { openInlet: broker });
  const named = cases.filter(({ name }) => name.includes("connections"));
  assert.equal(named.length, 2);
  const reasons: string[] = [];
  for (const { run } of named) await run().catch((error: Error) => reasons.push(error.message));
  return reasons;
}

test("a source that connects again, and takes one message after another, passes the cases about lost connections", async () => {
  assert.deepEqual(await reasonsOf(true), []);
});

test("a source that goes on with what it got over a lost connection lets other messages overtake it", async () => {
  const reasons = await reasonsOf(false);

  assert.equal(reasons.length, 1);
  assert.match(reasons.join(), /^emitted in another order than sent: "b", "c", "a"/);
});
