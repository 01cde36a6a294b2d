import assert from "node:assert/strict";
import { test } from "node:test";
import { merged } from "../../../core/management/page/browser/live/merge-patch.js";
import { eventStream } from "../../support/event-stream.js";
import { until } from "../../support/until.js";
import { runningTeam, since } from "./running-team.js";

/** Asserted on, member by member. */
type Document = ReturnType<typeof JSON.parse>;

const two = { workers: [{}, {}] };

test("the stream shows the sums of all workers, and goes on with what changes in one", async (context) => {
  const { port, workers } = await runningTeam(context, two);
  await workers[0]?.accept();
  const events = await eventStream(context, `http://127.0.0.1:${port}/v1/stream`);
  let document: Document = await events.nextNamed("snapshot");
  const before = document;
  await workers[1]?.accept();
  await workers[1]?.accept();

  for (const { stream } of workers) stream.tick();
  while (document.components["sink:k1"].stored < 3) document = merged(document, await events.nextNamed("change"));

  assert.deepEqual([before.agent.name, before.agent.revision, before.agent.ready], ["a", 1, true]);
  assert.equal(before.components["channel:c1"].capacity, 20);
  const { components } = document;
  assert.deepEqual([components["source:s1"].accepted, components["source:s1"].health], [3, "up"]);
  assert.deepEqual([components["channel:c1"].in, components["channel:c1"].ledger.received], [3, 3]);
  const common = { state: "running", since: since.toISOString(), receives: true };
  assert.deepEqual(document.agent.workers, [
    { number: 1, pid: 1001, ...common, received: 1, stored: 1 },
    { number: 2, pid: 1002, ...common, received: 2, stored: 2 },
  ]);
});

test("one snapshot is the sum of one of each worker", async (context) => {
  const { port, workers } = await runningTeam(context, two);
  await workers[0]?.accept();
  await workers[1]?.accept();

  const events = await eventStream(context, `http://127.0.0.1:${port}/v1/stream?once=true`);
  const { agent, components } = await events.nextNamed("snapshot");
  const end = await events.next();

  assert.deepEqual([components["source:s1"].accepted, agent.revision, agent.ready, end], [2, 1, true, undefined]);
});

test("streams of workers are open while somebody listens", async (context) => {
  const { port, workers } = await runningTeam(context, two);
  const listeners = async () => workers.map(({ stream }) => stream.listeners);

  const before = await listeners();
  const events = [1, 2].map(() => eventStream(context, `http://127.0.0.1:${port}/v1/stream`));
  for (const one of await Promise.all(events)) await one.nextNamed("snapshot");
  const during = await listeners();
  for (const one of await Promise.all(events)) one.close();
  const after = await until(listeners, ([one, other]) => one === 0 && other === 0);

  assert.deepEqual(
    [before, during, after],
    [
      [0, 0],
      [1, 1],
      [0, 0],
    ],
  );
});

test("a worker that goes and comes again does not end the stream", async (context) => {
  const { port, change } = await runningTeam(context, two);
  const events = await eventStream(context, `http://127.0.0.1:${port}/v1/stream`);
  let document: Document = await events.nextNamed("snapshot");
  const next = async (isWanted: (seen: Document) => boolean) => {
    while (!isWanted(document)) document = merged(document, await events.nextNamed("change"));
    return document;
  };

  change(2, { state: "restarting", reason: "it ended", pid: undefined });
  const gone = await next(({ agent }) => !agent.ready);
  change(2, { state: "running", reason: undefined, pid: 2002 });
  const back = await next(({ agent }) => agent.ready);

  assert.equal(gone.components["channel:c1"].capacity, 10);
  assert.deepEqual([gone.agent.workers[1].state, gone.agent.workers[1].reason], ["restarting", "it ended"]);
  assert.equal(back.components["channel:c1"].capacity, 20);
  assert.equal(back.agent.workers[1].pid, 2002);
});

test("a caller that leaves the stream of one worker is no listener of it any more", async (context) => {
  const { port, workers } = await runningTeam(context, two);
  const events = await eventStream(context, `http://127.0.0.1:${port}/workers/2/v1/stream`);
  await events.nextNamed("snapshot");

  events.close();

  const left = await until(
    async () => workers.map(({ stream }) => stream.listeners),
    ([, second]) => second === 0,
  );
  assert.deepEqual([events.headers["x-accel-buffering"], left], ["no", [0, 0]]);
});

test("the stream of one worker is passed on, and ends with the gateway", async (context) => {
  const { port, workers, end } = await runningTeam(context, two);
  await workers[1]?.accept();

  const events = await eventStream(context, `http://127.0.0.1:${port}/workers/2/v1/stream`);
  const { components } = await events.nextNamed("snapshot");
  end();
  while ((await events.next()) !== undefined);

  assert.equal(components["source:s1"].accepted, 1);
});

test("when the gateway ends, the stream says so", async (context) => {
  const { port, end } = await runningTeam(context, two);
  const events = await eventStream(context, `http://127.0.0.1:${port}/v1/stream`);
  await events.nextNamed("snapshot");

  end();

  assert.deepEqual(await events.nextNamed("end"), { reason: "the agent stops" });
});
