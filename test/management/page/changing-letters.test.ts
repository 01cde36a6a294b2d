import assert from "node:assert/strict";
import { browserTest } from "../../support/chromium.js";
import { pageAgent } from "../../support/page-agent.js";
import { until } from "../../support/until.js";

browserTest("fields that were filled in and not searched by are not what dropping goes by", async (context, open) => {
  const { agent, notify } = await pageAgent(context);
  await notify("urn:room:1", "bad");
  await notify("urn:room:2", "worse");
  const { page } = await open(agent.managementUrl, { view: "dead-letters" });
  await page.locator("tbody tr").nth(1).waitFor();

  await page.getByLabel("Service", { exact: true }).fill("worse");

  const drop = page.getByRole("button", { name: "Drop all that match" });
  assert.equal(await drop.isDisabled(), true);
  await page.getByText("The fields have changed.").waitFor();
  await page.getByLabel("Tick urn:room:1").check();
  assert.equal(await page.getByRole("button", { name: "Drop 1 dead letter" }).isEnabled(), true);
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("urn:room:1").waitFor({ state: "detached" });
  await drop.click();
  await page.getByRole("dialog").getByRole("button", { name: "Drop" }).click();
  await page.getByText("1 dead letter dropped.").waitFor();
});

browserTest("a dead letter stays open while others push it out of the list", async (context, open) => {
  const { agent, notify } = await pageAgent(context);
  await notify("urn:room:first", "bad");
  const { page } = await open(agent.managementUrl, { view: "dead-letters" });
  await page.getByRole("button", { name: "urn:room:first" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("The event").waitFor();

  for (let n = 0; n < 55; n += 1) await notify(`urn:room:${n}`, "bad");
  await page.locator("main p", { hasText: "56 dead letters waiting" }).waitFor();
  await page.locator("tbody", { hasText: "urn:room:54" }).waitFor();

  assert.equal(await page.locator("tbody", { hasText: "urn:room:first" }).count(), 0);
  assert.equal(await dialog.count(), 1);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
});

browserTest(
  "a search that has found nothing so far says that it is not at its end, and goes on",
  async (context, open) => {
    const { agent, notify } = await pageAgent(context);
    await notify("urn:room:1", "bad");
    const { page } = await open(agent.managementUrl);
    const asked: string[] = [];
    await page.route("**/v1/admin/deadletters/search?**", async (route) => {
      const cursor = Number(new URL(route.request().url()).searchParams.get("cursor") ?? 0);
      asked.push(String(cursor));
      await (cursor < 45
        ? route.fulfill({ json: { success: "true", deadletters: [], next: String(cursor + 1) } })
        : route.continue({ url: `${agent.managementUrl}/v1/admin/deadletters/search` }));
    });
    await page.evaluate("location.hash = '#/dead-letters'");

    const more = page.getByRole("button", { name: "Show more" });
    await more.waitFor();
    assert.equal(await page.getByText("No dead letter matches.").count(), 0);
    await more.click();
    await until(
      async () => asked.length,
      (calls) => calls >= 40,
    );
    await more.click();

    await page.locator("tbody", { hasText: "urn:room:1" }).waitFor();
    assert.deepEqual(
      asked.slice(0, 46),
      Array.from({ length: 46 }, (_, at) => String(at)),
    );
  },
);

browserTest("a list that takes long to read is shown although letters come meanwhile", async (context, open) => {
  const { agent, notify } = await pageAgent(context);
  await notify("urn:room:first", "bad");
  const { page } = await open(agent.managementUrl);
  await page.route("**/v1/admin/deadletters/search?**", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await route.continue().catch(() => undefined);
  });
  let coming = true;
  const stream = (async () => {
    for (let n = 0; coming; n += 1) {
      await notify(`urn:room:${n}`, "bad");
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  })();
  await page.evaluate("location.hash = '#/dead-letters'");

  await page
    .locator("tbody tr")
    .first()
    .waitFor({ timeout: 120_000 })
    .finally(() => {
      coming = false;
    });
  await stream;
});
