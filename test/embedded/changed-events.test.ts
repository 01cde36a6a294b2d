import assert from "node:assert/strict";
import { test } from "node:test";
import { type AgentConfiguration, sampleNotifications, testAgent } from "../../core/embedded/index.js";
import { type AnyPlugin, definePlugin, type Event } from "../../core/sdk/index.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";

/** What the contract forbids: another channel or sink may have the same event. */
type Change = (event: Event) => Event;

interface Case {
  readonly says: string;
  readonly plugin: (change: Change) => AnyPlugin;
  readonly config: AgentConfiguration;
}

const declared = { type: "careless", summary: "Changes its events.", stability: "beta", config: {} } as const;
const lifecycle = { start: async () => {}, stop: async () => {} };
const channels = { one: { type: "memory" }, two: { type: "memory" } };
const sinks = { bad: { type: "careless", channel: "one", batch_ttl: 0 } };
const interceptors = { bad: { type: "careless" } };
const room = (): Event => ({ headers: {}, body: { type: "Room", list: [{ n: 1 }] } });

const sink: Case = {
  says: "a sink",
  plugin: (change) =>
    definePlugin({
      ...declared,
      kind: "sink",
      create: () => ({
        ...lifecycle,
        persist: async ({ events }) => {
          for (const event of events) change(event);
          return { requestBytes: 0, responseBytes: 0 };
        },
      }),
    }),
  config: { channels, sinks },
};

const interceptor: Case = {
  says: "an interceptor",
  plugin: (change) => definePlugin({ ...declared, kind: "interceptor", create: () => ({ intercept: change }) }),
  config: { channels, sources: { in: { interceptors } } },
};

const cases: readonly Case[] = [
  sink,
  interceptor,
  {
    ...interceptor,
    says: "an interceptor that looks something up",
    plugin: (change) =>
      definePlugin({
        ...declared,
        kind: "interceptor",
        create: () => ({ intercept: async (event, _signal) => change(event) }),
      }),
  },
  {
    ...interceptor,
    says: "an interceptor that returned the event before",
    plugin: (change) => {
      const returned = room();
      return definePlugin({
        ...declared,
        kind: "interceptor",
        create: () => ({ intercept: () => (Object.isFrozen(returned) ? change(returned) : returned) }),
      });
    },
  },
  {
    says: "a selector",
    plugin: (change) =>
      definePlugin({
        ...declared,
        kind: "selector",
        create: (_, { channels: all }) => ({
          select: (event) => {
            change(event);
            return { required: all, optional: [] };
          },
        }),
      }),
    config: { channels, sources: { in: { selector: { type: "careless" } } } },
  },
  {
    says: "a handler that returned the event before",
    plugin: (change) => {
      let returned: Event | undefined;
      const decode = () => {
        if (returned !== undefined) change(returned);
        returned = room();
        return { service: "s", servicePath: "/", events: [returned] };
      };
      return definePlugin({ ...declared, kind: "handler", create: () => ({ decode }) });
    },
    config: { channels, sources: { in: { handler: { type: "careless" } } } },
  },
  {
    says: "a source that emitted the event before",
    plugin: (change) =>
      definePlugin({
        ...declared,
        kind: "source",
        slots: { handler: "handler" },
        create: (_, { emit }) => ({
          ...lifecycle,
          start: async () => {
            const emitted = room();
            await emit([emitted]);
            change(emitted);
          },
        }),
      }),
    config: { channels, sources: { in: { type: "careless", handler: "ngsi" } } },
  },
  {
    says: "a channel",
    plugin: (change) =>
      definePlugin({
        ...declared,
        kind: "channel",
        create: (_, context) => {
          const memory = new MemoryChannel({ capacity: 10, transactionCapacity: 10, "keep-alive": 0 }, context);
          const openPut = memory.openPut.bind(memory);
          const changing = () => {
            const transaction = openPut();
            const put = transaction.put.bind(transaction);
            return Object.assign(transaction, { put: (event: Event) => put(change(event)) });
          };
          return Object.assign(memory, { openPut: changing });
        },
      }),
    config: { channels: { one: { type: "careless" }, two: { type: "memory" } } },
  },
];

for (const { says, plugin, config } of cases)
  test(`${says} cannot change an event that another channel has`, async (context) => {
    const refused: unknown[] = [];
    const change = (event: Event) => {
      for (const part of [event, event.headers, event.body]) {
        try {
          Object.assign(Object(part), { type: "Changed", body: { type: "Changed" } });
        } catch (error) {
          refused.push(error);
        }
      }
      return event;
    };
    const agent = await testAgent({ plugins: [plugin(change)], config });
    context.after(() => agent.stop());

    const { ld } = sampleNotifications;
    const answers = [await agent.inject(ld), await agent.inject(ld)];
    await agent.settled();

    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
    const kept = agent.kept("two");
    assert.ok(kept.length >= 2);
    for (const { headers, body } of kept)
      assert.deepEqual([headers["type"], Reflect.get(Object(body), "type")], [undefined, "Room"]);
    assert.ok(refused.length >= 3);
    for (const error of refused) assert.ok(error instanceof TypeError);
  });

/** Without a catch. */
function changed(event: Event): Event {
  return Object.assign(event, { body: { type: "Changed" } });
}

const remedy = /its plugin must make another one in place of changing it: .*read only property 'body'/;

test("the events that a sink changes become dead letters with the reason and the remedy", async (context) => {
  const agent = await testAgent({ plugins: [sink.plugin(changed)], config: sink.config });
  context.after(() => agent.stop());

  await agent.inject(sampleNotifications.ld);
  await agent.settled();

  const letters = await agent.deadLetters();
  assert.equal(letters.length, 2);
  for (const { message } of letters) assert.match(message, remedy);
  assert.equal(agent.kept("two").length, 2);
});

test("a notification whose events an interceptor changes is refused, and the log has the reason and the remedy", async (context) => {
  const agent = await testAgent({ plugins: [interceptor.plugin(changed)], config: interceptor.config });
  context.after(() => agent.stop());

  const { status } = await agent.inject(sampleNotifications.ld);

  assert.equal(status, 500);
  assert.match(JSON.stringify(agent.log), remedy);
});
