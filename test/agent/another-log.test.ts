import assert from "node:assert/strict";
import { test } from "node:test";
import { testAgent } from "../../core/embedded/index.js";
import { SharedLog } from "../support/shared-channel.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const config = { channels: { c: { type: "shared" } }, sinks: { k: { type: "logger" } } };

test("an agent that finds another log than at its last start says so in one error, and never at its first start", async (context) => {
  const dataDir = await tempFolder(context);
  const told: (readonly unknown[])[] = [];
  const runWith = async (id: string) => {
    const agent = await testAgent({ config, dataDir, plugins: [new SharedLog(1, id).plugin] });
    context.after(() => agent.stop());
    // Letters are followed from then on.
    await until(
      async () =>
        await agent.inject({
          body: {
            id: "urn:n:1",
            type: "Notification",
            subscriptionId: "s",
            data: [{ id: "urn:ngsi-ld:Room:1", type: "Room" }],
          },
        }),
      ({ status }) => status === 200,
    );
    await agent.settled();
    await agent.stop();
    const lines = agent.log.filter(({ message }) => message.startsWith("the log of the channel is another one"));
    told.push(lines.map(({ level, fields }) => [level, Reflect.get(fields, "before"), Reflect.get(fields, "log")]));
  };

  for (const id of ["one", "one", "two", "two"]) await runWith(id);

  assert.deepEqual(told, [[], [], [["error", "one", "two"]], []]);
});
