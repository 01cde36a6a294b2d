import assert from "node:assert/strict";
import { test } from "node:test";
import { startAgent } from "../../support/agent-process.js";
import { httpAgent } from "../../support/http-agent.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { nameOfStream, ownNats } from "./nats.js";

test("a stop while the server is frozen answers senders that wait with 503 before it closes their connections", async (context) => {
  const server = await ownNats(context);
  if (server === undefined) return;
  const lines = [
    `a.channels.c.servers = ${server.url}`,
    `a.channels.c.stream = ${nameOfStream()}`,
    "a.channels.c.partitions = 1",
  ];
  const properties = httpAgent({ channel: "jetstream", sink: "logger", lines });
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties, folder, env: { DENEB_GRACE_PERIOD: "1" } });
  const post = async (number: number) => {
    const data = [{ id: `urn:room:${number}`, type: "Room", number: { type: "Property", value: number } }];
    const response = await fetch(agent.notifyUrl, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ id: "urn:n", type: "Notification", subscriptionId: "urn:s:1", data }),
    });
    return { status: response.status, text: await response.text() };
  };
  assert.equal((await post(0)).status, 200);
  await server.freeze();
  const posts = [1, 2, 3].map(post);
  await until(
    async () => JSON.parse(await (await fetch(`${agent.managementUrl}/v1/stats`)).text()).stats.sources[0],
    ({ num_received_events }) => num_received_events === 4,
  );

  const code = await agent.end("SIGTERM");
  const answers = await Promise.all(posts);
  server.thaw();

  assert.equal(code, 0);
  for (const { status, text } of answers) {
    assert.equal(status, 503);
    assert.match(text, /the agent stops/);
  }
});
