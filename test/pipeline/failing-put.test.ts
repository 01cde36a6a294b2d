import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleNotifications, testAgent } from "../../core/embedded/index.js";
import { definePlugin } from "../../core/sdk/index.js";
import { MemoryChannel } from "../../plugins/memory-channel/memory-channel.js";

const thrown: unknown = null;

function fails(): never {
  throw thrown;
}

const rejects = () => Promise.reject(thrown);

for (const { says, openPut, put = {} } of [
  { says: "openPut throws", openPut: fails },
  { says: "put throws", put: { put: fails } },
  { says: "reserve rejects", put: { reserve: rejects } },
  { says: "commit throws", put: { commit: fails } },
  { says: "commit rejects", put: { commit: rejects } },
])
  test(`a notification is refused with the name and type of the channel whose ${says} with null`, async (context) => {
    const odd = definePlugin({
      kind: "channel",
      type: "odd",
      summary: "Takes nothing.",
      stability: "beta",
      config: {},
      create: (_, own) => {
        const memory = new MemoryChannel({ capacity: 10, transactionCapacity: 10, "keep-alive": 0 }, own);
        const open = memory.openPut.bind(memory);
        return Object.assign(memory, { openPut: openPut ?? (() => Object.assign(open(), put)) });
      },
    });
    const channels = { one: { type: "odd" }, two: { type: "memory" } };
    const agent = await testAgent({ plugins: [odd], config: { channels } });
    context.after(() => agent.stop());

    const { status, cause } = await agent.inject(sampleNotifications.ld);
    await agent.settled();

    assert.deepEqual([status, cause], [500, "channel-failed"]);
    const reasons = agent.log.map(({ fields }) => Reflect.get(fields, "reason"));
    assert.ok(reasons.includes('putting events into channel "one" of type "odd": null'), JSON.stringify(reasons));
  });
