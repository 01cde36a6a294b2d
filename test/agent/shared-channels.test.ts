import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { putInParts } from "../../core/agent/replay/put-letters.js";
import { type TestAgentOptions, testAgent } from "../../core/embedded/index.js";
import { CountedChannel } from "../../core/pipeline/counted-channel.js";
import { codeOf, definePlugin, type Event, type Sink } from "../../core/sdk/index.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";
import { latch } from "../support/latch.js";
import { recordingLog } from "../support/recording-log.js";

const never = new AbortController().signal;
const receipt = { requestBytes: 0, responseBytes: 0 };

/** A sink that stores nothing before it is opened, and the services of its writes. */
function gatedSink() {
  const { opened, open } = latch();
  const writes: (readonly Event[])[] = [];
  const persist: Sink["persist"] = async ({ events }) => {
    await opened;
    writes.push(events);
    return receipt;
  };
  const plugin = definePlugin({
    kind: "sink",
    type: "gated",
    summary: "For tests.",
    stability: "stable",
    config: {},
    create: () => ({ start: async () => {}, stop: async () => {}, persist }),
  });
  return { plugin, open, writes };
}

function notificationOf(service: string, id: string, entities = 1) {
  const data = Array.from({ length: entities }, (_, at) => ({
    id: `urn:ngsi-ld:Room:${id}-${at}`,
    type: "Room",
    temperature: { type: "Property", value: at },
  }));
  const body = { id: "urn:n:1", type: "Notification", subscriptionId: "urn:s:1", data };
  return { headers: { "fiware-service": service }, body };
}

async function agentOf(context: TestContext, options: TestAgentOptions) {
  const agent = await testAgent(options);
  context.after(() => agent.stop());
  return agent;
}

const properties = (...lines: readonly string[]) => `
a.sources = inject
a.channels = c
a.sinks = k
a.sources.inject.type = inject
a.sources.inject.channels = c
a.sources.inject.handler = ngsi
a.channels.c.transactionCapacity = 1000
a.channels.c.capacity = 30000
a.sinks.k.type = gated
a.sinks.k.channel = c
${lines.join("\n")}`;

for (const type of ["memory", "file", "spillable"]) {
  const config = properties(
    `a.channels.c.type = ${type}`,
    "a.channels.c.fair_taking = true",
    ...(type === "spillable" ? ["a.channels.c.overflowCapacity = 30000", "a.channels.c.memoryCapacity = 100"] : []),
  ).replace(/a\.channels\.c\.capacity = 30000\n/, type === "spillable" ? "" : "$&");

  test(`${type}: the event of one service is stored with the next write, behind 20,000 events of another one`, async (context) => {
    const sink = gatedSink();
    const agent = await agentOf(context, { config, plugins: [sink.plugin] });
    for (let sent = 0; sent < 20; sent += 1)
      assert.equal((await agent.inject(notificationOf("flood", `f${sent}`, 1000))).status, 200);
    assert.equal((await agent.inject(notificationOf("other", "single"))).status, 200);

    sink.open();
    await agent.settled();

    const services = sink.writes.map((events) => new Set(events.map(({ headers }) => headers["fiware-service"])));
    const at = services.findIndex((write) => write.has("other"));
    // The first write began before the event was there.
    assert.ok(at <= 1, `it was in write ${at + 1}`);
    assert.equal(sink.writes.flat().length, 20_001);
  });
}

test("a service that fills its part of a channel is answered 429, others are accepted, and both are counted", async (context) => {
  const sink = gatedSink();
  const config = properties("a.channels.c.type = memory", "a.channels.c.service_percentage = 50").replace(
    "30000",
    "1000",
  );
  const agent = await agentOf(context, { config, plugins: [sink.plugin] });

  const answers = [];
  for (let sent = 0; sent < 700; sent += 1) answers.push(await agent.inject(notificationOf("flood", `f${sent}`)));
  const others = [];
  for (let sent = 0; sent < 200; sent += 1) others.push(await agent.inject(notificationOf("other", `o${sent}`)));

  assert.equal(answers.filter(({ status }) => status === 200).length, 500);
  assert.deepEqual(
    new Set(answers.slice(500).map(({ status, cause }) => `${status} ${cause}`)),
    new Set(["429 channel-share-full"]),
  );
  assert.ok(others.every(({ status }) => status === 200));
  const metrics = await agent.metrics();
  assert.match(
    metrics,
    /deneb_source_over_quota_total\{source="inject",service="flood",cause="channel-share-full"\} 200/,
  );
  assert.match(metrics, /deneb_source_refused_total\{source="inject",status="429",cause="channel-share-full"\} 200/);
  assert.equal(agent.health()["c"]?.state, "up", "a channel that has room is well");
  sink.open();
  await agent.settled();
  assert.equal(sink.writes.flat().length, 700);
});

test("two channels of a source: a notification that one of them refuses for its service is in neither", async (context) => {
  const sink = gatedSink();
  const config = properties(
    "a.channels.c.type = memory",
    "a.channels = c d",
    "a.channels.d.type = memory",
    "a.channels.d.capacity = 100",
    "a.channels.d.service_percentage = 50",
    "a.sources.inject.channels = c d",
    "a.sinks = k l",
    "a.sinks.l.type = gated",
    "a.sinks.l.channel = d",
  )
    .replace("a.channels = c\n", "")
    .replace("a.sinks = k\n", "")
    .replace("a.sources.inject.channels = c\n", "");
  const agent = await agentOf(context, { config, plugins: [sink.plugin] });
  const statuses = new Map<number, number>();
  for (let sent = 0; sent < 80; sent += 1) {
    const { status } = await agent.inject(notificationOf("flood", `f${sent}`));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  assert.equal((await agent.inject(notificationOf("other", "o"))).status, 200);

  sink.open();
  await agent.settled();

  assert.deepEqual(
    [...statuses],
    [
      [200, 50],
      [429, 30],
    ],
  );
  assert.equal(sink.writes.flat().length, 2 * 51);
});

test("a reload that changes the quota in the middle of a flood goes on with what was used", async (context) => {
  const sink = gatedSink();
  sink.open();
  const withQuota = (...lines: readonly string[]) => properties("a.channels.c.type = memory", ...lines);
  const slow = "a.sources.inject.quota.events_per_second = 1";
  const agent = await agentOf(context, {
    config: withQuota(slow, "a.sources.inject.quota.burst = 1000"),
    plugins: [sink.plugin],
  });
  const status = async (service: string, entities: number) =>
    (await agent.inject(notificationOf(service, "r", entities))).status;

  assert.equal(await status("flood", 1000), 200);
  assert.equal(await status("flood", 500), 429);
  await agent.reload({ config: withQuota(slow, "a.sources.inject.quota.burst = 2000"), plugins: [sink.plugin] });
  assert.equal(await status("flood", 500), 429, "a larger burst is filled like the rest");
  assert.equal(await status("other", 2000), 200);
  await agent.reload({ config: withQuota(slow, "a.sources.inject.quota.services.FLOOD = -1"), plugins: [sink.plugin] });
  assert.equal(await status("flood", 500), 200);
  await agent.reload({ config: withQuota("a.sources.inject.quota.events_per_second = 0"), plugins: [sink.plugin] });
  const blocked = await agent.inject(notificationOf("third", "r"));
  assert.deepEqual([blocked.status, blocked.cause], [429, "quota"]);
  await agent.reload({ config: withQuota(), plugins: [sink.plugin] });
  assert.equal(await status("flood", 1000), 200);
});

function memoryChannel(percentage: number): MemoryChannel {
  const context = { name: "c1", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
  const limits = { capacity: 10, transactionCapacity: 10, "keep-alive": 0, service_percentage: percentage };
  return new MemoryChannel(limits, context);
}

const eventOf = (body: number): Event => ({ headers: { "fiware-service": "flood" }, body });

async function filled(channel: MemoryChannel, count: number): Promise<MemoryChannel> {
  const put = channel.openPut();
  for (let body = 0; body < count; body += 1) put.put(eventOf(body));
  await put.commit();
  return channel;
}

test("dead letters are replayed while their service holds its part of the channel", async () => {
  const channel = await filled(memoryChannel(50), 5);
  const letters = [6, 7, 8].map((body) => ({ id: `l${body}`, event: eventOf(body) }));

  const { sent, error } = await putInParts(channel, letters);

  assert.equal(error, undefined);
  assert.equal(sent.length, 3);
  assert.equal(channel.size, 8);
  await assert.rejects(filled(channel, 1), (thrown) => codeOf(thrown) === "CHANNEL_SHARE_FULL");
});

test("a channel that is replaced hands over what a service holds, however small its part is from then on", async () => {
  const before = new CountedChannel(await filled(memoryChannel(100), 10));
  const inner = memoryChannel(10);
  const after = new CountedChannel(inner);

  assert.equal(await after.inherit(before), 10);
  assert.equal(after.size, 10);
  assert.deepEqual(
    inner.largestServices(1)?.map(({ events }) => events),
    [10],
  );
  await before.stop(never);
});
