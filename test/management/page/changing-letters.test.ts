import assert from "node:assert/strict";
import { browserTest } from "../../support/chromium.js";
import { pageAgent } from "../../support/page-agent.js";

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
