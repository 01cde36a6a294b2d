import assert from "node:assert/strict";
import { browserTest } from "../../support/chromium.js";
import { loggerSinks, pageAgent } from "../../support/page-agent.js";

browserTest(
  "the topology is drawn from the configuration, and rates appear while notifications arrive",
  async (context, open) => {
    const { agent, notify } = await pageAgent(context);
    const { page, problems } = await open(agent.managementUrl);
    await page.getByText("Ready. All 3 components are up.").first().waitFor();
    const names = await page.locator(".card-name").allTextContents();
    let posting = true;
    const posts = (async () => {
      while (posting) await notify("urn:room:1");
    })();

    await page
      .locator(".card.source .number b")
      .filter({ hasNotText: /^[–0]$/ })
      .first()
      .waitFor();
    await page
      .locator(".card.sink .number b")
      .filter({ hasNotText: /^[–0]$/ })
      .first()
      .waitFor();
    posting = false;
    await posts;

    assert.deepEqual(names, ["http-source", "queue", "store"]);
    assert.match(await page.locator(".card.source").innerText(), /to queue/);
    assert.equal(await page.locator(".lines path").count(), 2);
    assert.deepEqual(problems, []);
  },
);

browserTest("the reason why a sink is down is shown, with its component, in the details too", async (context, open) => {
  const { agent, notify } = await pageAgent(context, {
    lines: [
      "deneb.sinks.store.rdb_dialect = postgresql",
      "deneb.sinks.store.rdb_host = 127.0.0.1",
      "deneb.sinks.store.rdb_port = 1",
      "deneb.sinks.store.rdb_folder =",
    ],
  });
  await notify("urn:room:1");
  const { page } = await open(agent.managementUrl);

  await page.locator(".problems").getByText("Not ready.").waitFor();
  await page
    .locator(".problems")
    .getByText(/connection refused/)
    .waitFor();
  await page.locator(".problems").getByRole("button", { name: "sink store" }).click();

  await page.getByRole("heading", { name: /sink store/ }).waitFor();
  assert.match(await page.locator(".details").innerText(), /Down[\s\S]*connection refused/);
  assert.match(await page.locator(".card.sink").innerText(), /Down/);
});

browserTest(
  "an agent of a thousand components is drawn in part, and every component can be found",
  async (context, open) => {
    const { agent } = await pageAgent(context, { lines: loggerSinks(499) });
    const { page, problems } = await open(agent.managementUrl);

    await page.getByText("of 1,001 components are drawn").waitFor();
    const drawn = await page.locator(".card").count();
    await page.getByLabel("Find components").fill("k314");
    await page.locator(".card-name", { hasText: "c314" }).waitFor();
    await page.getByRole("button", { name: "sink k314" }).click();

    await page.getByRole("heading", { name: /sink k314/ }).waitFor();
    assert.ok(drawn < 100, String(drawn));
    assert.equal(await page.locator(".card.sink").count(), 1);
    assert.deepEqual(problems, []);
  },
);

browserTest("names of strangers are shown as text, whatever they hold", async (context, open) => {
  const name = `<img/src/onerror>"'&amp;`;
  const { agent } = await pageAgent(context, {
    lines: [
      `deneb.sinks = store __proto__ ${name}`,
      "deneb.channels = queue second third",
      "deneb.sources.http-source.channels = queue second third",
      "deneb.channels.second.type = memory",
      "deneb.channels.third.type = memory",
      "deneb.sinks.__proto__.type = logger",
      "deneb.sinks.__proto__.channel = second",
      `deneb.sinks.${name}.type = logger`,
      `deneb.sinks.${name}.channel = third`,
    ],
  });
  const { page, problems } = await open(agent.managementUrl);

  await page.locator(".card-name", { hasText: name }).click();

  await page.getByRole("heading", { name: /sink <img/ }).waitFor();
  await page.locator(".card-name", { hasText: "__proto__" }).waitFor();
  assert.equal(await page.locator("main img").count(), 0);
  assert.equal(await page.title(), "Overview – Deneb");
  assert.deepEqual(problems, []);
});
