import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { type TestContext, test } from "node:test";
import { AGENT, agentContainer, DEAD_LETTERS } from "../../core/agent/container.js";
import type { Topology } from "../../core/configuration/topology.js";
import { editedMemory } from "../../core/files/edited-text.js";
import { managementApp } from "../../core/management/management-app.js";
import { ManagementServer } from "../../core/management/management-server.js";
import { type DeadLetter, DeadLetters } from "../../core/pipeline/dead-letters.js";
import type { AnyPlugin } from "../../core/sdk/index.js";
import memoryChannel from "../../plugins/memory-channel/index.js";
import { testLogging } from "../support/logging.js";
import { recordingLog } from "../support/recording-log.js";
import { partsOf } from "../support/running-management.js";
import { ScriptedSink } from "../support/scripted-sink.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const common = { summary: "for tests", stability: "stable", config: {} } as const;

const letter = (id: string, sink = "k1"): DeadLetter => ({
  id,
  time: "2026-01-15T10:00:00.000Z",
  sink,
  reason: "permanent",
  code: "POISON",
  message: "storing",
  attempts: 1,
  event: { headers: { name: id }, body: { n: 1 } },
});

async function serve(context: TestContext) {
  const { log } = recordingLog();
  const sink = new ScriptedSink();
  const sinkPlugin: AnyPlugin = { ...common, kind: "sink", type: "scripted", create: () => sink };
  const node = (name: string, definition: AnyPlugin, config = {}) => ({ name, definition, config, slots: {} });
  const topology: Topology = {
    agent: "a",
    sources: [],
    channels: [node("c1", memoryChannel, { capacity: 2, transactionCapacity: 2, "keep-alive": 0 })],
    sinks: [
      {
        ...node("k1", sinkPlugin),
        channel: "c1",
        batching: { batchSize: 1, batchTimeout: 30, batchTtl: 1, batchRetryIntervals: [1] },
      },
    ],
  };
  const dataDir = await tempFolder(context);
  const container = agentContainer({ topology, dataDir, loggers: { of: () => log } });
  const agent = container.resolve(AGENT);
  const logging = await testLogging(dataDir);
  const app = managementApp({ ...partsOf(container), logging, nameMappings: editedMemory(), log });
  const server = new ManagementServer(app, { host: "127.0.0.1", port: 0 }, log);
  await agent.start(1000);
  await server.start();
  context.after(async () => {
    await server.stop(AbortSignal.abort());
    await agent.stop(1000);
  });
  const call = async (method: string, path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}/v1/admin/deadletters${path}`, { method });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const letters = container.resolve(DEAD_LETTERS);
  return { call, sink, letters, folder: dirname(letters.fileOf("k1")) };
}

test("the list counts all letters, shows a part without their events, and of one sink when asked", async (context) => {
  const { call, letters } = await serve(context);
  await letters.keep([letter("a"), letter("b")]);
  await letters.keep([letter("z", "gone")]);

  const all = await call("GET", "");
  const part = await call("GET", "?sink=k1&limit=1&offset=1");

  assert.equal(all.body.success, "true");
  assert.equal(all.body.count, 3);
  const { event: _event, ...shown } = letter("b");
  assert.deepEqual(part.body, { success: "true", count: 2, deadletters: [{ ...shown, state: "waiting" }] });
});

test("one letter is shown with its event", async (context) => {
  const { call, letters } = await serve(context);
  await letters.keep([letter("a")]);

  const { status, body } = await call("GET", "/a");

  assert.equal(status, 200);
  assert.deepEqual(body.deadletter, { ...letter("a"), state: "waiting" });
});

test("a replay gives the sink its events with the id of the letter, and the letter is gone", async (context) => {
  const { call, letters, sink } = await serve(context);
  await letters.keep([letter("a"), letter("b"), letter("c")]);

  const { body } = await call("POST", "/a/replay");
  const left = await until(
    () => call("GET", ""),
    (seen) => seen.body.count === 2,
  );

  assert.deepEqual(body, { success: "true", replayed: 1, underway: 0, refused: 0 });
  assert.deepEqual(sink.stored, [{ headers: { name: "a", "deneb-dead-letter": "a" }, body: { n: 1 } }]);
  assert.deepEqual(
    left.body.deadletters.map(({ id }: { readonly id: string }) => id),
    ["b", "c"],
  );
});

test("a letter is left alone while this agent is replaying it, and goes again when the one before was", async (context) => {
  const { call, letters, folder } = await serve(context);
  await letters.keep([letter("own"), letter("old")]);
  await letters.mark("k1", ["own"], "replaying");
  await new DeadLetters(folder).mark("k1", ["old"], "replaying");

  const { body } = await call("POST", "/replay");

  assert.deepEqual(body, { success: "true", replayed: 1, underway: 1, refused: 0 });
});

const refusals = [
  { method: "GET", path: "/nothing", status: 404, error: /dead letter nothing not found/ },
  { method: "POST", path: "/nothing/replay", status: 404, error: /dead letter nothing not found/ },
  { method: "DELETE", path: "/nothing", status: 404, error: /dead letter nothing not found/ },
  { method: "DELETE", path: "", status: 400, error: /Give sink, service, entity, reason, since, or all=true/ },
  { method: "GET", path: "?limit=many", status: 400, error: /limit and offset are whole numbers/ },
  { method: "DELETE", path: "?all=false", status: 400, error: /or all=true/ },
  {
    method: "GET",
    path: "?reason=bad",
    status: 400,
    error: /reason "bad" is none; give permanent or retries-exhausted or crashed-the-agent/,
  },
  { method: "GET", path: "?since=soon", status: 400, error: /since "soon" is no time/ },
  { method: "DELETE", path: "?service=", status: 400, error: /service has no value/ },
  { method: "POST", path: "/replay?snik=k1", status: 400, error: /Unknown parameter snik/ },
  { method: "GET", path: "?sink=nobody", status: 404, error: /no sink "nobody".*the agent has "k1"/ },
  { method: "POST", path: "/replay?sink=nobody", status: 404, error: /no sink "nobody"/ },
  { method: "DELETE", path: "?sink=nobody", status: 404, error: /no sink "nobody"/ },
  { method: "POST", path: "/replay?sink=gone", status: 409, error: /sink "gone", which the agent does not have/ },
] as const;

for (const { method, path, status, error } of refusals)
  test(`${method} /v1/admin/deadletters${path} is answered ${status}, and the letters stay`, async (context) => {
    const { call, letters } = await serve(context);
    await letters.keep([letter("a")]);
    await letters.keep([letter("z", "gone")]);

    const reply = await call(method, path);
    const list = await call("GET", "");

    assert.equal(reply.status, status);
    assert.equal(reply.body.success, "false");
    assert.match(reply.body.error, error);
    assert.equal(list.body.count, 2);
  });

const choices = [
  { query: "service=openiot", ids: ["a", "b"] },
  { query: "service=openiot&entity=Room2", ids: ["b"] },
  { query: "entity=Room1", ids: ["a", "c"] },
  { query: "reason=retries-exhausted", ids: ["c"] },
  { query: "since=2026-01-15T10:00:00.001Z", ids: ["b"] },
  { query: "service=%20openiot", ids: [] },
] as const;

for (const { query, ids } of choices)
  test(`the choice ${query} lists ${ids.join(" and ")}, and a drop takes just these`, async (context) => {
    const { call, letters } = await serve(context);
    const about = (id: string, service: string, entity: string): DeadLetter => ({
      ...letter(id),
      event: { headers: { "fiware-service": service }, body: { id: entity, type: "Room" } },
    });
    await letters.keep([
      about("a", "openiot", "Room1"),
      { ...about("b", "openiot", "Room2"), time: "2026-01-15T10:00:00.001Z" },
      { ...about("c", "other", "Room1"), reason: "retries-exhausted" },
    ]);

    const list = await call("GET", `?${query}`);
    const dropped = await call("DELETE", `?${query}`);
    const left = await call("GET", "");

    const idsOf = (given: readonly { readonly id: string }[]) => given.map(({ id }) => id);
    assert.deepEqual(idsOf(list.body.deadletters), ids);
    assert.equal(dropped.body.dropped, ids.length);
    assert.equal(left.body.count, 3 - ids.length);
    for (const shown of list.body.deadletters) assert.deepEqual([shown.entityType, shown.event], ["Room", undefined]);
  });

test("a dry run says what would be replayed, and changes nothing", async (context) => {
  const { call, letters, sink } = await serve(context);
  await letters.keep([letter("a"), letter("b"), letter("c")]);
  await letters.keep([letter("z", "gone")]);
  await letters.mark("k1", ["b"], "replaying");

  const dry = await call("POST", "/replay?dry_run=true");
  const list = await call("GET", "");

  assert.equal(dry.status, 409);
  assert.deepEqual([dry.body.replayed, dry.body.underway, dry.body.refused], [2, 1, 1]);
  assert.deepEqual(
    list.body.deadletters.map(({ id, state }: { readonly id: string; readonly state: string }) => `${id} ${state}`),
    ["z waiting", "a waiting", "b replaying", "c waiting"],
  );
  assert.equal(sink.stored.length, 0);
});

test("a refused sink does not keep the letters of others, and the answer counts both", async (context) => {
  const { call, letters, sink } = await serve(context);
  await letters.keep([letter("z", "gone"), letter("y", "gone")]);
  await letters.keep([letter("a")]);

  const { status, body } = await call("POST", "/replay");
  await until(
    async () => sink.stored.length,
    (count) => count === 1,
  );

  assert.equal(status, 409);
  assert.deepEqual([body.replayed, body.underway, body.refused], [1, 0, 2]);
  assert.deepEqual(body.refusals[0].sink, "gone");
  assert.equal(body.refusals[0].letters, 2);
});

test("a dropped letter is gone from the disk when the answer comes; one that is underway stays", async (context) => {
  const { call, letters } = await serve(context);
  await letters.keep([letter("gone-for-good"), letter("on-its-way")]);
  await letters.mark("k1", ["on-its-way"], "replaying");

  const { body } = await call("DELETE", "?all=true");
  const text = await readFile(letters.fileOf("k1"), "utf8");

  assert.deepEqual(body, { success: "true", dropped: 1, underway: 1 });
  assert.doesNotMatch(text, /gone-for-good/);
  assert.match(text, /on-its-way/);
});

test("a drop takes the letters of one sink only", async (context) => {
  const { call, letters } = await serve(context);
  await letters.keep([letter("a"), letter("b")]);
  await letters.keep([letter("z", "gone")]);

  const { body } = await call("DELETE", "?sink=k1");
  const left = await call("GET", "");

  assert.deepEqual(body, { success: "true", dropped: 2, underway: 0 });
  assert.equal(left.body.count, 1);
});

test("a replay into a channel that is full is answered 503 and leaves the letters waiting", async (context) => {
  const { call, letters, sink } = await serve(context);
  let hold = () => {};
  const held = new Promise<void>((resolve) => {
    hold = resolve;
  });
  context.after(() => hold());
  sink.persist = async () => {
    await held;
    return { requestBytes: 0, responseBytes: 0 };
  };
  await letters.keep([letter("a"), letter("b"), letter("c")]);

  const { status, body } = await call("POST", "/replay");
  const list = await call("GET", "");

  assert.equal(status, 503);
  assert.match(body.error, /channel "c1" is full/);
  const states = list.body.deadletters.map(({ state }: { readonly state: string }) => state);
  assert.deepEqual(states, ["replaying", "replaying", "waiting"]);
});
