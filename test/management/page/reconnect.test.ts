import assert from "node:assert/strict";
import { MOST_LISTENERS } from "../../../core/management/live/live-stream.js";
import { browserTest } from "../../support/chromium.js";
import { eventStream } from "../../support/event-stream.js";
import { pageAgent } from "../../support/page-agent.js";

browserTest(
  "a lost connection is shown, and the page goes on by itself when the agent is back",
  async (context, open) => {
    const { agent, folder } = await pageAgent(context);
    const { page } = await open(agent.managementUrl);
    await page.getByText("All 3 components are up.").first().waitFor();
    const port = new URL(agent.managementUrl).port;

    await agent.end("SIGKILL");
    await page.getByText("Connection lost").waitFor();
    const lost = await page.locator(".masthead").innerText();
    await pageAgent(context, {
      folder,
      lines: [
        "deneb.sinks.more.type = logger",
        "deneb.sinks.more.channel = other",
        "deneb.channels.other.type = memory",
        "deneb.channels = queue other",
        "deneb.sinks = store more",
        "deneb.sources.http-source.channels = queue other",
      ],
      flags: ["--management-port", port],
    });

    await page.locator(".masthead").getByText("Live").waitFor();
    await page.getByText("All 5 components are up.").first().waitFor();
    await page.locator(".card-name", { hasText: "more" }).waitFor();
    assert.match(lost, /What you see is from before\./);
  },
);

browserTest("a topology that cannot be read after a reload is asked for again", async (context, open) => {
  const { agent, configure, reload } = await pageAgent(context);
  const { page } = await open(agent.managementUrl);
  await page.getByText("All 3 components are up.").first().waitFor();
  let refused = 0;
  await page.route("**/v1/topology", async (route) => {
    refused += 1;
    await (refused > 2 ? route.continue() : route.fulfill({ status: 502, body: "no upstream" }));
  });

  await configure(
    "deneb.sinks = store more",
    "deneb.sinks.more.type = logger",
    "deneb.sinks.more.channel = other",
    "deneb.channels = queue other",
    "deneb.channels.other.type = memory",
    "deneb.sources.http-source.channels = queue other",
  );
  await reload();

  await page.locator(".card-name", { hasText: "more" }).waitFor();
  assert.equal(refused, 3);
});

browserTest("a page that gets no stream because others have all of them says why", async (context, open) => {
  const { agent } = await pageAgent(context);
  const stream = `${agent.managementUrl}/v1/stream`;
  await Promise.all(Array.from({ length: MOST_LISTENERS }, () => eventStream(context, stream)));

  const { page } = await open(agent.managementUrl);

  await page.getByText("Too many streams are open, or the agent stops. Close one, or try again later").waitFor();
});
