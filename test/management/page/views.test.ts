import assert from "node:assert/strict";
import { brokerStandIn } from "../../support/broker.js";
import { browserTest } from "../../support/chromium.js";
import { pageAgent } from "../../support/page-agent.js";

const notification = JSON.stringify({
  id: "urn:n:1",
  type: "Notification",
  subscriptionId: "urn:s:1",
  data: [{ id: "urn:<b>room</b>:1", type: "Room", temperature: { type: "Property", value: 21.5 } }],
});

browserTest(
  "a pasted notification is explained: channels, sinks, table and row; nothing is stored",
  async (context, open) => {
    const { agent } = await pageAgent(context);
    const { page } = await open(agent.managementUrl, { view: "explain" });

    await page.getByLabel("Notification").fill(notification);
    await page.getByLabel("Fiware-Service", { exact: true }).fill("good");
    await page.getByRole("button", { name: "Explain" }).click();

    await page.getByRole("heading", { name: /Sink store/ }).waitFor();
    const text = await page.locator("main").innerText();
    assert.match(text, /Into queue\./);
    assert.match(text, /urn:<b>room<\/b>:1/);
    assert.match(text, /temperature/);
    const stats = JSON.parse(await (await fetch(`${agent.managementUrl}/v1/stats`)).text());
    assert.equal(stats.stats.sources[0].num_received_events, 0);
  },
);

browserTest("a notification that would be refused is explained with status and reason", async (context, open) => {
  const { agent } = await pageAgent(context);
  const { page } = await open(agent.managementUrl, { view: "explain" });

  await page.getByLabel("Notification").fill("{ no json");
  await page.getByRole("button", { name: "Explain" }).click();

  await page.getByText(/Source http-source would refuse it with 400/).waitFor();
});

browserTest("a fault of the file is shown with its line, and a reload of it is refused", async (context, open) => {
  const { agent, configure } = await pageAgent(context);
  await configure("deneb.channels.queue.capacity = many");
  const { page } = await open(agent.managementUrl, { view: "configuration" });

  await page
    .locator(".faults")
    .getByText(/line \d+: deneb\.channels\.queue\.capacity/)
    .first()
    .waitFor();
  await page.getByText("The file has errors.").waitFor();
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Reload" }).click();

  await page
    .locator(".notice.bad .faults")
    .getByText(/capacity/)
    .waitFor();
});

browserTest("the difference is shown before a reload, and the topology after it", async (context, open) => {
  const { agent, configure } = await pageAgent(context);
  await configure(
    "deneb.channels.queue.capacity = 12345",
    "deneb.sinks = store more",
    "deneb.sinks.more.type = logger",
    "deneb.channels = queue other",
    "deneb.channels.other.type = memory",
    "deneb.sinks.more.channel = other",
  );
  const { page, problems } = await open(agent.managementUrl, { view: "configuration" });

  await page.locator("ins", { hasText: "12345" }).waitFor();
  const difference = await page.locator("main").innerText();
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Reload" }).click();
  await page.getByText("Nothing: the agent runs what the file says.").waitFor();
  await page.getByRole("link", { name: "Overview" }).click();

  await page.locator(".card-name", { hasText: "more" }).waitFor();
  assert.match(difference, /New: .*sink more/);
  assert.deepEqual(problems, []);
});

browserTest("the level of a logger is changed in the running agent", async (context, open) => {
  const { agent } = await pageAgent(context);
  const { page } = await open(agent.managementUrl, { view: "logs" });

  await page.getByLabel("Level of store").selectOption("DEBUG");
  await page.getByText("store logs at DEBUG now.").waitFor();

  const { loggers } = JSON.parse(await (await fetch(`${agent.managementUrl}/v1/admin/log/loggers`)).text());
  const level = loggers.find(({ name }: { name: string }) => name === "store").level;
  assert.equal(level, "DEBUG");
});

browserTest(
  "the subscriptions of a broker that may be called are listed, and none of any other",
  async (context, open) => {
    const description = "<i>rooms</i>";
    const broker = await brokerStandIn(context, () => ({
      status: 200,
      headers: { "Fiware-Total-Count": "2" },
      body: JSON.stringify([
        {
          id: "51c0",
          description,
          status: "failed",
          notification: { http: { url: "http://here/notify" }, timesSent: 7 },
        },
        { id: "51c1", notification: { kafka: { url: "kafka://there:9092", topic: "t" } } },
      ]),
    }));
    const { agent } = await pageAgent(context, { env: { DENEB_BROKER_TARGETS: `127.0.0.1:${broker.endpoint.port}` } });
    const { page } = await open(agent.managementUrl, { view: "subscriptions" });
    await page.getByRole("button", { name: "List" }).click();
    await page.getByText(description).first().waitFor();
    const listed = await page.locator(".subscriptions").innerText();

    await page.getByLabel("Host").fill("localhost");
    await page.getByRole("button", { name: "List" }).click();

    await page.locator(".notice.bad").waitFor();
    assert.match(listed, /failed[\s\S]*to http:\/\/here\/notify[\s\S]*7 sent/);
    assert.match(listed, /51c1 to kafka:\/\/there:9092/);
  },
);

browserTest("the ledger has the books of each channel, and compares them with the stores", async (context, open) => {
  const { agent, notify } = await pageAgent(context);
  await notify("urn:room:1");
  const { page } = await open(agent.managementUrl, { view: "ledger" });

  const row = page.locator("tr", { has: page.getByRole("rowheader", { name: "queue" }) });
  await row.locator("td", { hasText: /^1$/ }).nth(1).waitFor();
  await page.getByRole("button", { name: "Compare" }).click();

  await page.getByText("Nothing differs.").waitFor();
});
