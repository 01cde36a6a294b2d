import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { sampleNotifications, type TestAgentOptions, testAgent } from "../../core/embedded/index.js";
import {
  AgentError,
  type AnyPlugin,
  codeOf,
  definePlugin,
  type Event,
  type HealthReport,
  type Sink,
} from "../../core/sdk/index.js";
import { tempFolder } from "../support/temp-folder.js";

const declared = { summary: "For tests.", stability: "stable" } as const;
const quiet = { start: async () => {}, stop: async () => {} };
const nothing = { requestBytes: 0, responseBytes: 0 };

/** A sink that stores nothing of type `Room` whose id ends with the text. */
function pickySink(persist: Sink["persist"] = async () => nothing): AnyPlugin {
  return definePlugin({
    ...declared,
    kind: "sink",
    type: "picky",
    config: { refused: { doc: "End of ids.", format: "text", default: "" } },
    create: ({ refused }, { log }) => ({
      ...quiet,
      async persist(batch, signal) {
        const bad = batch.events.find(({ body }) => refused !== "" && idOf(body).endsWith(refused));
        if (bad !== undefined) throw new AgentError("BAD_ID", `storing "${idOf(bad.body)}"`, { retryable: false });
        log.info({ events: batch.events.length }, "stored");
        return await persist(batch, signal);
      },
    }),
  });
}

function idOf(body: unknown): string {
  return String(Reflect.get(Object(body), "id"));
}

async function agentOf(context: TestContext, options: TestAgentOptions = {}) {
  const agent = await testAgent(options);
  context.after(() => agent.stop());
  return agent;
}

const { ld, v2 } = sampleNotifications;

test("an agent of nothing but defaults keeps what is injected, of both versions of NGSI", async (context) => {
  const agent = await agentOf(context);

  const answers = [await agent.inject(ld), await agent.inject(v2)];
  await agent.settled();

  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200],
  );
  assert.deepEqual(
    agent.kept().map(({ body }) => idOf(body)),
    ["urn:ngsi-ld:Room:1", "urn:ngsi-ld:Room:2", "Room3"],
  );
  assert.match(await agent.metrics(), /^deneb_/m);
  assert.equal(agent.health()["inject"]?.state, "up");
});

test("a refused request has the answer that a sender would get", async (context) => {
  const agent = await agentOf(context);

  const malformed = await agent.inject({ body: "{" });
  const elsewhere = await agent.inject({ ...ld, path: "/elsewhere" });

  assert.equal(malformed.status, 400);
  assert.match(malformed.reason ?? "", /JSON/);
  assert.equal(elsewhere.status, 400);
  assert.match(elsewhere.reason ?? "", /\/elsewhere/);
  assert.deepEqual(agent.kept(), []);
});

test("events that a sink refuses are dead letters, and the others are stored", async (context) => {
  const config = { sinks: { mine: { type: "picky", refused: "Room:2", batch_size: 2 } } };
  const agent = await agentOf(context, { plugins: [pickySink()], config });

  await agent.inject(ld);
  await agent.settled();

  const letters = await agent.deadLetters();
  assert.deepEqual(
    letters.map(({ sink, reason, code, event }) => [sink, reason, code, idOf(event.body)]),
    [["mine", "permanent", "BAD_ID", "urn:ngsi-ld:Room:2"]],
  );
  const said = agent.log.filter(({ component, message }) => component === "mine" && message === "stored");
  assert.deepEqual(
    said.map(({ fields }) => fields),
    [{ events: 1 }],
  );
});

test("interceptors, a selector, a handler and several channels are written as an object", async (context) => {
  const agent = await agentOf(context, {
    config: {
      sources: {
        in: {
          handler: { type: "ngsi", ngsi_version: "ld", notification_target: "/here" },
          interceptors: { mark: { type: "static", key: "kind", value: "a = b\\c" } },
          selector: { type: "multiplexing", header: "kind", mapping: { other: "one" }, default: ["two"] },
        },
      },
      channels: { one: { type: "memory" }, two: { type: "memory", capacity: 10, transactionCapacity: 5 } },
    },
  });

  const { status } = await agent.inject(ld);
  await agent.settled();

  assert.equal(status, 200);
  assert.deepEqual(
    agent.kept("two").map(({ headers }) => headers["kind"]),
    ["a = b\\c", "a = b\\c"],
  );
  assert.deepEqual(agent.kept("one"), []);
});

test("everything that is wrong with a configuration is said at once, and no folder stays", async (context) => {
  const dataDir = `${await tempFolder(context)}/data`;
  const config = { sinks: { mine: { type: "pikcy" }, other: { type: "keep", channel: "none" } } };

  const failure = await testAgent({ plugins: [pickySink()], config, dataDir }).catch((error: unknown) => error);

  assert.equal(codeOf(failure), "CONFIGURATION_INVALID");
  assert.match(String(failure), /did you mean "picky"/);
  assert.match(String(failure), /agent\.sinks\.other\.channel/);
  await assert.rejects(stat(dataDir));
});

test("a reload replaces a sink by another definition, and one that is faulty changes nothing", async (context) => {
  const stored: string[] = [];
  const writing = (mark: string) =>
    pickySink(async ({ events }) => {
      for (const event of events) stored.push(`${mark} ${idOf(event.body)}`);
      return nothing;
    });
  const config = { sinks: { mine: { type: "picky" } } };
  const agent = await agentOf(context, { plugins: [writing("before")], config });
  await agent.inject(v2);
  await agent.settled();

  await agent.reload({ plugins: [writing("after")] });
  await agent.inject(v2);
  await agent.settled();
  const failure = await agent.reload({ config: { sinks: { mine: { type: "none" } } } }).catch(codeOf);
  await agent.inject(v2);
  await agent.settled();

  assert.equal(failure, "CONFIGURATION_INVALID");
  assert.deepEqual(stored, ["before Room3", "after Room3", "after Room3"]);
});

test("a reload that fails goes on as before and says why", async (context) => {
  const failing = definePlugin({
    ...declared,
    kind: "source",
    type: "failing",
    config: {},
    create: () => ({
      ...quiet,
      start: () => Promise.reject(new AgentError("NO_WAY", "no way to start", { retryable: false })),
    }),
  });
  const agent = await agentOf(context, { plugins: [failing] });

  await assert.rejects(agent.reload({ config: { sources: { bad: { type: "failing" } } } }), /no way to start/);

  assert.equal((await agent.inject(v2)).status, 200);
  await agent.settled();
  assert.equal(agent.kept().length, 1);
});

test("settled says what still waits, and why", async (context) => {
  const sink = pickySink(() => Promise.reject(new AgentError("AWAY", "no store here", { retryable: true })));
  const config = { sinks: { mine: { type: "picky", batch_ttl: -1 } } };
  const agent = await agentOf(context, { plugins: [sink], config });

  await agent.inject(v2);

  await assert.rejects(agent.settled(50), (error) => {
    assert.equal(codeOf(error), "NOT_SETTLED");
    assert.match(String(error), /channel "memory" holds 1 event/);
    return true;
  });
});

test("two agents in one process know nothing of each other, and leave nothing behind", async () => {
  const [one, other] = [await testAgent(), await testAgent()];
  await one.inject(ld);
  await Promise.all([one.settled(), other.settled()]);

  const counts = [one.kept().length, other.kept().length];
  await Promise.all([one.stop(), one.stop(), other.stop()]);

  assert.deepEqual(counts, [2, 0]);
  assert.notEqual(one.dataDir, other.dataDir);
  for (const { dataDir } of [one, other]) await assert.rejects(stat(dataDir));
  assert.equal(await one.inject(ld).catch(codeOf), "AGENT_STOPPED");
});

test("a start that fails ends what had started, and gives the port back", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  const address = await new Promise((resolve) => taken.once("listening", () => resolve(taken.address())));
  const port = Number(Reflect.get(Object(address), "port"));
  const config = { sources: { web: { type: "http", handler: "ngsi", port, bind: "127.0.0.1" } } };

  await assert.rejects(testAgent({ config }), /EADDRINUSE|in use/);

  await new Promise((resolve) => taken.close(resolve));
});

test("a given folder stays, with what a file channel holds for the next agent", async (context) => {
  const dataDir = await tempFolder(context);
  const channels = { disk: { type: "file" } };
  const away: Sink["persist"] = () => Promise.reject(new AgentError("AWAY", "no store here", { retryable: true }));
  const first = await testAgent({
    dataDir,
    plugins: [pickySink(away)],
    config: { channels, sinks: { mine: { type: "picky" } } },
  });
  await first.inject(ld);
  await first.stop();

  const second = await agentOf(context, { dataDir, config: { channels } });
  await second.settled();

  assert.equal(second.kept("disk").length, 2);
  assert.ok((await readdir(dataDir)).length > 0);
});

test("events of any form are put past the handler, and the clock is the test's", async (context) => {
  const times: Date[] = [];
  const sink = definePlugin({
    ...declared,
    kind: "sink",
    type: "clocked",
    config: {},
    create: (_, { now }) => ({
      ...quiet,
      async persist() {
        times.push(now());
        return nothing;
      },
    }),
  });
  const config = { sinks: { mine: { type: "clocked" } } };
  const time = new Date("2026-01-15T10:20:30.123Z");
  const agent = await agentOf(context, { plugins: [sink], config, now: () => time });
  const event: Event = { headers: {}, body: ["anything"] };

  await agent.emit([event]);
  await agent.settled();

  assert.deepEqual(times, [time]);
});

test("what a component reports is shown at once, and goes with its next report", async (context) => {
  const told = new EventEmitter();
  const talking = definePlugin({
    kind: "interceptor",
    type: "talking",
    summary: "Reports a given state.",
    stability: "stable",
    config: {},
    create: (_, { report }) => {
      told.on("health", (health: HealthReport) => report?.(health));
      return { intercept: (event) => event };
    },
  });
  const interceptors = { i: { type: "talking" } };
  const agent = await testAgent({ plugins: [talking], config: { sources: { in: { interceptors } } } });
  context.after(() => agent.stop());

  const states = (["degraded", "down", "up"] as const).map((state) => {
    told.emit("health", { state, reason: "told" });
    return agent.health()["in"];
  });

  assert.deepEqual(
    states.map((one) => one?.state),
    ["degraded", "down", "up"],
  );
  assert.match(states[1]?.reason ?? "", /told$/);
  assert.equal(states[2]?.reason, "");
});
