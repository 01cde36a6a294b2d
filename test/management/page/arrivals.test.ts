import assert from "node:assert/strict";
import { browserTest } from "../../support/chromium.js";
import { pageAgent } from "../../support/page-agent.js";
import { until } from "../../support/until.js";

browserTest(
  "what arrives is shown after it was switched on: accepted, refused with its reason, secrets masked",
  async (context, open) => {
    const { agent, notify } = await pageAgent(context);
    const { page, problems } = await open(agent.managementUrl, { view: "arrivals" });
    await page.getByText(/^Off/).waitFor();
    await notify("urn:before:1");

    await page.getByRole("button", { name: "Switch on" }).click();
    await page.getByText("Nothing has arrived since it was switched on.").waitFor();
    await notify("urn:<b>room</b>:1", "good", { Authorization: "Bearer very-secret", "X-Auth-Token": "very-secret" });
    await notify("urn:room:2", "good", { "Content-Type": "text/plain" });
    await page.locator(".arrival.accepted", { hasText: "urn:<b>room</b>:1" }).waitFor();
    await page.locator(".arrival.refused", { hasText: "Refused" }).waitFor();
    await page.locator(".arrival.accepted summary").click();

    const text = await page.locator(".arrivals").innerText();
    assert.match(text, /authorization: \*\*\*/);
    assert.match(text, /"value": 21\.5/);
    assert.match(text, /415|400/);
    assert.doesNotMatch(await page.content(), /very-secret|urn:before/);
    await page.getByRole("button", { name: "Switch off" }).click();
    await page.getByText(/^Off/).waitFor();
    const { on } = JSON.parse(await (await fetch(`${agent.managementUrl}/v1/admin/arrivals`)).text());
    assert.equal(on, false);
    assert.deepEqual(problems, []);
  },
);

browserTest("arrivals that cannot be read are asked for once a second", async (context, open) => {
  const { agent } = await pageAgent(context);
  const { page } = await open(agent.managementUrl, { settings: {} });
  let asked = 0;
  await page.route("**/v1/admin/arrivals?**", async (route) => {
    asked += 1;
    await route.fulfill({ status: 503, json: { success: "false", error: "The agent is starting" } });
  });
  // The clock of the page stands still from here on but for what the test lets pass.
  await page.clock.install();
  await page.clock.pauseAt(new Date(Date.now() + 60_000));
  await page.evaluate("location.hash = '#/arrivals'");
  await until(
    async () => {
      await page.clock.runFor(20);
      return await page.getByText("The agent is starting").count();
    },
    (shown) => shown > 0,
  );
  const first = asked;
  for (let step = 0; step < 10; step += 1) await page.clock.runFor(20);
  const soon = asked;
  await page.clock.runFor(1000);
  await until(
    async () => asked,
    (calls) => calls > soon,
  );

  assert.equal(soon, first);
});

browserTest("how long arrivals are shown does not depend on the clock of the browser", async (context, open) => {
  const { agent } = await pageAgent(context);
  const { page } = await open(agent.managementUrl, { view: "arrivals", settings: {} });
  await page.clock.setFixedTime(new Date(Date.now() + 2 * 3_600_000));

  await page.getByRole("button", { name: "Switch on" }).click();

  await page.getByText(/On for another [45] min/).waitFor();
});
