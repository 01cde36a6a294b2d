import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { AgentError, batchSink, definePlugin, onAbort, reasonOf, type Sink } from "../../core/sdk/index.js";
import { type ConformanceStore, markOf, pluginConformance } from "../../core/testing/index.js";

/** A store that keeps a mark of each line, and answers each with a line. */
async function lineStore(): Promise<ConformanceStore> {
  const marks: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    createInterface({ input: socket }).on("line", (line) => {
      marks.push(JSON.parse(line));
      socket.write("stored\n");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the store has no port");
  const { port } = address;
  return {
    config: { port },
    readBack: async () => marks,
    tcp: { host: "127.0.0.1", port, through: (way) => ({ port: way }) },
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

/** Sends each event over a connection of its own. */
function lineSink(port: number, persisting: "hears" | "is deaf" | "does not wait"): Sink {
  const sent = async (mark: string, signal: AbortSignal) => {
    const socket = connect({ host: "127.0.0.1", port });
    const stopListening = onAbort(signal, () => {
      if (persisting !== "is deaf") socket.destroy(signal.reason);
    });
    try {
      socket.write(`${JSON.stringify(mark)}\n`);
      await (persisting === "does not wait"
        ? once(socket, "connect")
        : Promise.race([once(socket, "data"), gone(socket)]));
    } catch (cause) {
      throw new AgentError("NOT_SENT", "sending a line", { cause, retryable: true });
    } finally {
      stopListening();
      socket.end();
    }
  };
  return {
    start: async () => {},
    stop: async () => {},
    async persist({ events }, signal) {
      for (const event of events) await sent(markOf(event), signal);
      return { requestBytes: 0, responseBytes: 0 };
    },
  };
}

async function gone(socket: Socket): Promise<never> {
  await once(socket, "close");
  throw new Error("the store closed the connection");
}

const sinks = [
  { persisting: "hears", fault: "" },
  {
    persisting: "is deaf",
    fault:
      "persist has not settled 10 s after its signal was aborted, while the store does not answer; " +
      "pass the signal on, or close the connection when it aborts, as abandon of batchSink does",
  },
  { persisting: "does not wait", fault: "persist resolved, although the store did not answer" },
] as const;

for (const { persisting, fault } of sinks)
  test(`of a sink that ${persisting} when a write is aborted ${fault === "" ? "nothing is" : "the fault is"} said`, async () => {
    const definition = definePlugin({
      apiVersion: 1,
      kind: "sink",
      type: "line",
      summary: "Sends lines.",
      stability: "beta",
      config: { port: { doc: "The port.", format: "port", default: 1 } },
      create: ({ port }) => lineSink(port, persisting),
    });
    const cases = await pluginConformance(definition, { openStore: lineStore });
    const found = cases.find(({ name }) => name.startsWith("a write that its store does not answer ends soon"));
    assert.ok(found !== undefined);

    const reason = await found.run().then(
      () => "",
      (error: unknown) => reasonOf(error),
    );

    assert.equal(reason, fault);
  });

for (const { says, mayRepeat, fault } of [
  {
    says: "that says it may repeat any write",
    mayRepeat: () => true,
    fault: /^one call of persist stored its event 2 times/,
  },
  { says: "that says it may repeat none", mayRepeat: () => false, fault: /^$/ },
])
  test(`of a sink ${says} the case whose answer is lost ${fault.test("") ? "says nothing" : "says what was stored twice"}`, async () => {
    const definition = definePlugin({
      apiVersion: 1,
      kind: "sink",
      type: "line",
      summary: "Sends lines.",
      stability: "beta",
      config: { port: { doc: "The port.", format: "port", default: 1 } },
      create: ({ port }) =>
        batchSink({
          open: async () => connect({ host: "127.0.0.1", port }).on("error", () => undefined),
          async write(socket, events) {
            for (const event of events) {
              socket.write(`${JSON.stringify(markOf(event))}\n`);
              await Promise.race([once(socket, "data"), gone(socket)]);
            }
            return undefined;
          },
          close: async (socket) => void socket.destroy(),
          abandon: (socket) => void socket.destroy(),
          mayRepeat,
        }),
    });
    const cases = await pluginConformance(definition, { openStore: lineStore });
    const found = cases.find(({ name }) => name.startsWith("a write whose answer is lost"));
    assert.ok(found !== undefined);

    const reason = await found.run().then(
      () => "",
      (error: unknown) => reasonOf(error),
    );

    assert.match(reason, fault);
  });
