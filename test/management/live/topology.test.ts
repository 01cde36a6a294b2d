import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { startAgent } from "../../support/agent-process.js";
import { eventStream } from "../../support/event-stream.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";

const properties = `
a1.sources = http-source
a1.channels = c
a1.sinks = one two
a1.sinkgroups = g
a1.sources.http-source.type = http
a1.sources.http-source.channels = c
a1.sources.http-source.bind = 127.0.0.1
a1.sources.http-source.port = 0
a1.sources.http-source.token = source-secret
a1.sources.http-source.handler = ngsi
a1.sources.http-source.handler.default_service = svc
a1.sources.http-source.interceptors = time
a1.sources.http-source.interceptors.time.type = timestamp
a1.channels.c.type = memory
a1.channels.c.capacity = 500
a1.channels.c.transactionCapacity = 100
a1.sinks.one.type = logger
a1.sinks.one.channel = c
a1.sinks.one.batch_size = 7
a1.sinks.two.type = http
a1.sinks.two.channel = c
a1.sinks.two.url = http://127.0.0.1:9/store
a1.sinks.two.bearer_token = sink-secret
a1.sinkgroups.g.sinks = one two
a1.sinkgroups.g.processor.type = failover
a1.sinkgroups.g.processor.priority.one = 5
a1.sinkgroups.g.processor.priority.two = 1
`;

interface Named {
  readonly name: string;
}

const named = <T extends Named>(all: readonly T[], name: string) => all.find((one) => one.name === name);

test("the topology shows what the configuration says, without its secrets, and a reload makes a new one", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties, folder, env: { DENEB_RELOAD_INTERVAL: "0" } });
  const get = async (target: string) => await (await fetch(`${agent.managementUrl}${target}`)).text();

  const text = await get("/v1/topology");
  const { topology } = JSON.parse(text);
  const events = await eventStream(context, `${agent.managementUrl}/v1/stream`);
  await events.nextNamed("snapshot");
  await writeFile(path.join(folder, "agent.properties"), properties.replace("capacity = 500", "capacity = 600"));
  agent.process.kill("SIGHUP");
  const changed = await events.nextNamed("topology");
  // A reload replaces one component after another.
  const snapshot = await until(
    async () => await events.nextNamed("snapshot"),
    ({ components }) => components["channel:c"]?.capacity === 600 && components["source:http-source"] !== undefined,
  );
  const after = JSON.parse(await get("/v1/topology")).topology;
  const began = agent.end("SIGTERM");
  const end = await events.nextNamed("end");
  const code = await began;

  assert.doesNotMatch(text, /source-secret|sink-secret/);
  assert.deepEqual(
    topology.components.map(({ id }: { readonly id: string }) => id),
    ["source:http-source", "channel:c", "sink:one", "sink:two"],
  );
  assert.deepEqual(topology.links, [
    { from: "source:http-source", to: "channel:c" },
    { from: "channel:c", to: "sink:one" },
    { from: "channel:c", to: "sink:two" },
  ]);
  const [source, channel, sink, second] = topology.components;
  assert.deepEqual(
    [source.plugin, channel.capacity, channel.durable],
    [{ origin: "deneb", stability: "stable" }, 500, false],
  );
  assert.deepEqual(named(source.settings, "token"), { name: "token", value: "***", masked: true, default: false });
  assert.deepEqual(
    source.nested.map(({ slot, type }: { readonly slot: string; readonly type: string }) => `${slot}: ${type}`),
    ["handler: ngsi", "interceptors: timestamp", "selector: replicating"],
  );
  assert.deepEqual(named(source.nested[0].settings, "default_service"), {
    name: "default_service",
    value: "svc",
    default: false,
  });
  assert.deepEqual(named(sink.settings, "batch_size"), { name: "batch_size", value: 7, default: false });
  assert.deepEqual(named(second.settings, "bearer_token"), {
    name: "bearer_token",
    value: "***",
    masked: true,
    default: false,
  });
  const [group] = topology.groups;
  assert.deepEqual([group.id, group.sinks, group.processor.type], ["group:g", ["sink:one", "sink:two"], "failover"]);
  assert.ok(changed.revision > 1);
  assert.ok(snapshot.agent.revision >= changed.revision);
  assert.ok(after.revision >= snapshot.agent.revision);
  assert.equal(after.components[1].capacity, 600);
  assert.deepEqual(end, { reason: "the agent stops" });
  assert.equal(code, 0);
});
