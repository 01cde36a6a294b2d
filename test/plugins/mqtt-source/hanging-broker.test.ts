import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { runningSource } from "./running-source.js";

const CONNECT = 0x10;
const SUBSCRIBE = 0x80;
const CONNACK = [0x20, 2, 0, 0];

interface Script {
  readonly answers: number;
  /** What each topic is given: its quality of service, or 128 for a refusal. */
  readonly grants?: readonly number[];
}

/** A broker that stands still after it has answered this many packets: its connections stay open whatever is sent. */
async function hangingBroker(context: TestContext, { answers, grants = [1] }: Script) {
  const sockets: Socket[] = [];
  let asked = 0;
  let stands = () => {};
  const standsStill = new Promise<void>((resolve) => {
    stands = resolve;
  });
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.on("data", (packet) => {
      asked += 1;
      const kind = (packet[0] ?? 0) & 0xf0;
      if (asked > answers) stands();
      else if (kind === CONNECT) socket.write(Buffer.from(CONNACK));
      else if (kind === SUBSCRIBE)
        socket.write(Buffer.from([0x90, 2 + grants.length, packet[2] ?? 0, packet[3] ?? 0, ...grants]));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the broker has no port");
  return { url: `mqtt://127.0.0.1:${address.port}`, standsStill };
}

for (const { while: what, answers } of [
  { while: "a subscription waits for its answer", answers: 1 },
  { while: "nothing is asked of it", answers: 2 },
])
  test(`a broker that hangs while ${what} holds a stop up for seconds only`, { timeout: 20_000 }, async (context) => {
    const { url, standsStill } = await hangingBroker(context, { answers });
    const { source, logged } = await runningSource(context, { config: { url } });
    if (answers === 1) await standsStill;
    else await logged("subscribed");

    await source.stop(new AbortController().signal);

    await logged("stopped receiving");
  });

test("a stop whose grace period is over ends before one that still has time, whatever the broker does", async (context) => {
  const stopOf = async () => {
    const { url } = await hangingBroker(context, { answers: 2 });
    const { source, logged } = await runningSource(context, { config: { url } });
    await logged("subscribed");
    return (signal: AbortSignal) => source.stop(signal);
  };
  const [stopPatient, stopHurried] = [await stopOf(), await stopOf()];
  const grace = new AbortController();
  const ended: string[] = [];

  const patient = stopPatient(new AbortController().signal).then(() => ended.push("patient"));
  const hurried = stopHurried(grace.signal).then(() => ended.push("hurried"));
  grace.abort();
  await Promise.all([patient, hurried]);

  assert.deepEqual(ended, ["hurried", "patient"]);
});

test("a source is degraded while its broker refuses a topic, which is named, and reads the others", async (context) => {
  const { url } = await hangingBroker(context, { answers: 2, grants: [1, 128] });

  const { health, logged } = await runningSource(context, { config: { url, topics: ["own/#", "other/#"] } });
  const [refused] = await logged("subscription refused");
  const [taken] = await logged("subscribed");

  assert.deepEqual(health, [{ state: "degraded", reason: "the broker refuses the topics other/#" }]);
  assert.deepEqual(refused?.fields, { topics: ["other/#"] });
  assert.deepEqual(taken?.fields, { url, topics: ["own/#"], sessionPresent: false });
});
