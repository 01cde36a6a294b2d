import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { MOST_LISTENERS } from "../../../core/management/live/live-stream.js";
import { AgentError } from "../../../core/sdk/index.js";
import { eventStream } from "../../support/event-stream.js";
import { runningManagement } from "../../support/running-management.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { settableClock } from "../../support/settable-clock.js";
import { until } from "../../support/until.js";

const headers = { "fiware-service": "openiot", timestamp: "1768472430000" };

test("a stream begins at once with everything, and goes on with what has changed", async (context) => {
  const clock = settableClock();
  const { agent, port, stream } = await runningManagement(context, { clock });
  await agent.assembly.sinks[0]?.feed.halt(AbortSignal.timeout(120_000));

  const events = await eventStream(context, `http://127.0.0.1:${port}/v1/stream`);
  const first = await events.next();
  await agent.assembly.sources[0]?.processor.emit([{ headers, body: 1 }]);
  clock.pass(7);
  stream.tick();
  const second = await events.next();

  assert.equal(events.headers["content-type"], "text/event-stream; charset=utf-8");
  assert.equal(first?.event, "snapshot");
  const { agent: about, components, time } = first?.data ?? {};
  assert.deepEqual([time, about.name, about.revision, about.ready], ["2026-01-15T10:20:30.000Z", "a", 1, true]);
  assert.deepEqual(Object.keys(components), ["source:s1", "channel:c1", "sink:k1"]);
  assert.deepEqual([components["channel:c1"].events, components["channel:c1"].capacity], [0, 10]);
  assert.equal(second?.event, "change");
  assert.equal(second?.data.time, "2026-01-15T10:20:37.000Z");
  const change = second?.data.components;
  assert.equal(change["source:s1"].accepted, 1);
  assert.ok(change["source:s1"].accepted_per_second > 0);
  assert.equal(change["channel:c1"].events, 1);
  assert.equal(change["channel:c1"].oldest, "2026-01-15T10:20:30.000Z");
  assert.equal(change["channel:c1"].ledger.waiting, 1);
  assert.ok(change["channel:c1"].seconds_until_full > 0);
  assert.deepEqual([change["source:s1"].status, change["channel:c1"].capacity], [undefined, undefined]);
});

test("what is gone is null in a change, and a component that fails has its reason", async (context) => {
  const clock = settableClock();
  let broken = true;
  const sink = new ScriptedSink(() =>
    broken ? new AgentError("AWAY", "storing to a store that is away", { retryable: true }) : undefined,
  );
  const { agent, port, stream } = await runningManagement(context, { clock, sink, batchTtl: -1 });
  await agent.assembly.sources[0]?.processor.emit([{ headers, body: 1 }]);
  await until(
    async () => sink.writes.length,
    (writes) => writes > 1,
  );
  clock.pass(10);
  const events = await eventStream(context, `http://127.0.0.1:${port}/v1/stream`);
  const first = (await events.nextNamed("snapshot")).components;
  broken = false;
  await agent.assembly.sinks[0]?.feed.drain(AbortSignal.timeout(120_000));

  stream.tick();
  const change = (await events.nextNamed("change")).components;

  assert.equal(first["sink:k1"].health, "down");
  assert.deepEqual(
    first["sink:k1"].findings.map(({ reason }: { readonly reason: string }) => reason),
    ["storing to a store that is away"],
  );
  assert.equal(first["channel:c1"].events, 1);
  assert.deepEqual([change["sink:k1"].health, change["sink:k1"].findings], ["up", null]);
  assert.deepEqual([change["channel:c1"].events, change["channel:c1"].oldest], [0, null]);
});

test("nothing is looked at without listeners", async (context) => {
  const { agent, port, stream } = await runningManagement(context);
  let looks = 0;
  const { counters } = agent.assembly.sources[0]?.processor ?? assert.fail();
  Object.defineProperty(counters, "processed", { get: () => (looks += 1) });
  const before = looks;

  const events = await eventStream(context, `http://127.0.0.1:${port}/v1/stream`);
  await events.next();
  const looked = looks;
  events.close();
  await until(
    async () => stream.listeners,
    (listeners) => listeners === 0,
  );

  assert.equal(before, 0);
  assert.ok(looked > 0);
  assert.equal(stream.isLooking, false);
});

test("a stream too many is answered 503, and one that was closed makes room", async (context) => {
  const { port, call, stream } = await runningManagement(context);
  const url = `http://127.0.0.1:${port}/v1/stream`;
  const all = await Promise.all(Array.from({ length: MOST_LISTENERS }, () => eventStream(context, url)));

  const refused = await call("GET", "/v1/stream");
  all[0]?.close();
  await until(
    async () => stream.listeners,
    (listeners) => listeners < MOST_LISTENERS,
  );
  const again = await eventStream(context, url);

  assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "5"]);
  assert.match(refused.body.error, /Too many streams/);
  assert.equal(again.status, 200);
});

test("a stop of the interface ends the streams, those that nobody reads too", async (context) => {
  const { port, server, stream } = await runningManagement(context);
  const deaf = await deafStream(context, port);
  const events = await eventStream(context, `http://127.0.0.1:${port}/v1/stream`);
  await events.nextNamed("snapshot");

  const stopped = server.stop(AbortSignal.timeout(120_000));
  const end = await events.nextNamed("end");
  const after = await events.next();
  deaf.destroy();
  await stopped;

  assert.deepEqual(end, { reason: "the agent stops" });
  assert.equal(after, undefined);
  assert.equal(stream.listeners, 0);
});

test("a read token is enough for the stream, no token is not", async (context) => {
  const tokens = { read: ["r"], admin: ["t"] };
  const { port, call } = await runningManagement(context, { access: { tokens } });

  const none = await call("GET", "/v1/stream");
  const read = await eventStream(context, `http://127.0.0.1:${port}/v1/stream`, { Authorization: "Bearer r" });
  const first = await read.next();

  assert.deepEqual([none.status, read.status, first?.event], [401, 200, "snapshot"]);
});

/** A client that asks for the stream and never reads. */
async function deafStream(context: TestContext, port: number): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  context.after(() => socket.destroy());
  await once(socket, "connect");
  socket.pause();
  socket.write("GET /v1/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  return socket;
}
