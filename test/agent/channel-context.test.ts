import assert from "node:assert/strict";
import { test } from "node:test";
import { testAgent } from "../../core/embedded/index.js";
import { definePlugin } from "../../core/sdk/index.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";

test("a channel knows whether sinks of its agent take from it", async () => {
  const seen: Record<string, boolean | undefined> = {};
  const channel = definePlugin({
    apiVersion: 1,
    kind: "channel",
    type: "asking",
    summary: "Asks for its sinks.",
    stability: "beta",
    config: {},
    create(_, context) {
      seen[context.name] = context.hasSinks;
      return new MemoryChannel({ capacity: 10, transactionCapacity: 10, "keep-alive": 0 }, context);
    },
  });
  const config = `
    a.sources = s
    a.channels = taken left
    a.sinks = k
    a.sources.s.type = inject
    a.sources.s.handler = ngsi
    a.sources.s.channels = taken left
    a.channels.taken.type = asking
    a.channels.left.type = asking
    a.sinks.k.type = keep
    a.sinks.k.channel = taken`;

  const agent = await testAgent({ plugins: [channel], config });
  await agent.stop();

  assert.deepEqual(seen, { taken: true, left: false });
});
