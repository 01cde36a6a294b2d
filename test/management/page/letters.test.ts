import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { browserTest } from "../../support/chromium.js";
import { latch } from "../../support/latch.js";
import { pageAgent } from "../../support/page-agent.js";
import { until } from "../../support/until.js";

const hostile = `urn:<img/src/onerror="document.title=1">:2`;

/** Sends events that the store refuses, one each for the entities; resolves when the list has them. */
async function withLetters(page: Page, number: number): Promise<void> {
  await page
    .locator("main p", { hasText: `${number} dead letter` })
    .first()
    .waitFor();
  await page
    .locator("tbody tr")
    .nth(number - 1)
    .waitFor();
}

browserTest(
  "dead letters are searched, and one is looked at with its event; what it holds is text",
  async (context, open) => {
    const { agent, notify } = await pageAgent(context);
    await notify("urn:room:1", "bad");
    await notify(hostile, "worse");
    const { page, problems } = await open(agent.managementUrl, { view: "dead-letters" });
    await withLetters(page, 2);

    await page.getByLabel("Service", { exact: true }).fill("worse");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("urn:room:1").waitFor({ state: "detached" });
    await page.getByRole("button", { name: hostile }).click();

    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("The event").getByText("21.5").waitFor();
    assert.match(await dialog.innerText(), /Reason\s+permanent/);
    assert.equal(await page.locator("main img").count(), 0);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await until(
      () => page.evaluate("document.activeElement.innerText"),
      (text) => text === hostile,
    );
    assert.deepEqual(problems, []);
  },
);

browserTest("a dry run says what a replay would do and changes nothing", async (context, open) => {
  const { agent, notify } = await pageAgent(context);
  await notify("urn:room:1", "bad");
  const { page } = await open(agent.managementUrl, { view: "dead-letters" });
  await withLetters(page, 1);

  await page.getByRole("button", { name: "Dry run of all that match" }).click();

  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 dead letter would be replayed. Nothing was changed.").waitFor();
  assert.match(await dialog.innerText(), /Sink store: 1 dead letter[\s\S]*will probably fail again/);
  assert.match(await dialog.innerText(), /^The sink is degraded: events became dead letters, the last one at 20/m);
  await dialog.getByRole("button", { name: "Close" }).click();
  assert.equal(await page.locator("tbody tr").count(), 1);
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByText("1 dead letter waits. See dead letters").waitFor();
});

browserTest("a letter whose cause was mended is replayed and goes away", async (context, open) => {
  const { agent, notify, configure, reload } = await pageAgent(context);
  await notify("urn:room:1", "bad");
  await configure("deneb.sinks.store.allowed_services = good bad");
  await reload();
  const { page } = await open(agent.managementUrl, { view: "dead-letters" });
  await withLetters(page, 1);

  await page.getByLabel("Tick urn:room:1").check();
  await page.getByRole("button", { name: "Replay 1 dead letter" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Replay" }).click();

  await page.getByText("The replay of 1 dead letter was started.").waitFor();
  await page.getByText("No dead letter matches.").waitFor();
  await page.locator("main p", { hasText: "0 dead letters waiting" }).waitFor();
});

browserTest(
  "a dropped letter is gone, after the question whether it is meant; the others stay",
  async (context, open) => {
    const { agent, notify } = await pageAgent(context);
    await notify("urn:room:1", "bad");
    await notify("urn:room:2", "bad");
    const { page } = await open(agent.managementUrl, { view: "dead-letters" });
    await withLetters(page, 2);

    await page.getByLabel("Tick urn:room:1").check();
    await page.getByRole("button", { name: "Drop 1 dead letter" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    assert.equal(await page.locator("tbody tr").count(), 2);
    await page.getByRole("button", { name: "Drop 1 dead letter" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Drop" }).click();

    await page.getByText("1 dead letter dropped.").waitFor();
    await page.locator("main p", { hasText: "1 dead letter waiting" }).waitFor();
    assert.match(await page.locator("tbody").innerText(), /urn:room:2/);
  },
);

browserTest("pages of a long list follow each other, and dropping all that match asks first", async (context, open) => {
  const { agent, notify } = await pageAgent(context);
  for (let n = 0; n < 60; n += 1) await notify(`urn:room:${n}`, "bad");
  // Pages that were added to a list stay as they are: what comes later is not among them.
  await until(
    async () => await (await fetch(`${agent.managementUrl}/v1/admin/deadletters/search?limit=100`)).text(),
    (text) => text.split("urn:room:").length > 60,
  );
  const { page } = await open(agent.managementUrl, { view: "dead-letters" });
  await page.locator("main p", { hasText: "60 dead letters waiting" }).waitFor();
  await page.locator("tbody tr").nth(49).waitFor();

  const more = page.getByRole("button", { name: "Show more" });
  // A search is bounded in time: on a busy machine a page of it may be short.
  await until(
    async () => {
      if (await more.isVisible()) await more.click({ timeout: 1000 }).catch(() => undefined);
      return await page.locator("tbody tr").count();
    },
    (rows) => rows === 60,
  );
  const entities = await page.locator("tbody .entity").allTextContents();
  await page.getByRole("button", { name: "Drop all that match" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Drop" }).click();

  await page.getByText("60 dead letters dropped.").waitFor();
  await page.getByText("No dead letter matches.").waitFor();
  assert.equal(new Set(entities).size, 60);
});

browserTest(
  "why the last of several operations failed is shown, and no reason of one before",
  async (context, open) => {
    const { agent, notify } = await pageAgent(context);
    await notify("urn:room:1", "bad");
    const { page } = await open(agent.managementUrl, { view: "dead-letters" });
    await withLetters(page, 1);
    const refusing = (error: string) => ({ status: 503, json: { success: "false", error } });
    await page.route("**/v1/admin/deadletters/replay?**", (route) => route.fulfill(refusing("no dry run now")));
    await page.route("**/v1/admin/deadletters?**", (route) => route.fulfill(refusing("worker 2 does not run")));

    await page.getByRole("button", { name: "Dry run of all that match" }).click();
    await page.getByText("no dry run now").waitFor();
    await page.getByRole("button", { name: "Drop all that match" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Drop" }).click();

    await page.getByText("worker 2 does not run").waitFor();
    assert.equal(await page.getByText("no dry run now").count(), 0);
  },
);

browserTest(
  "an id that hides characters shows them and turns nothing around it; it is ticked and dropped as it is",
  async (context, open) => {
    const { agent, notify } = await pageAgent(context);
    await notify("urn:\u202egpj.exe:1", "bad");
    await notify("\u200b", "bad");
    const { page, problems } = await open(agent.managementUrl, { view: "dead-letters" });
    await withLetters(page, 2);

    const shown = await page.locator("tbody .entity").allTextContents();
    await page.getByRole("button", { name: "\\u202e" }).click();
    const event = await page.getByRole("dialog").getByLabel("The event").innerText();
    await page.keyboard.press("Escape");
    await page.getByLabel("Tick urn:\\u202egpj.exe:1").check();
    await page.getByRole("button", { name: "Drop 1 dead letter" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Drop" }).click();
    await page.getByText("1 dead letter dropped.").waitFor();

    assert.deepEqual(shown.toSorted(), ["\\u200b", "urn:\\u202egpj.exe:1"]);
    assert.match(event, /"urn:\\u202egpj\.exe:1"/);
    assert.deepEqual(problems, []);
  },
);

browserTest(
  "the question before a drop says what the search restricts: nothing, where a time is filled in by half, which is emptied, too",
  async (context, open) => {
    const { agent, notify } = await pageAgent(context);
    await notify("urn:room:1", "bad");
    const { page } = await open(agent.managementUrl, { view: "dead-letters" });
    await withLetters(page, 1);

    await page.getByText("More to search by").click();
    await page.getByLabel("Kept since").click();
    await page.keyboard.type("01022026");
    await page.getByRole("button", { name: "Drop all that match" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("The search restricts nothing: these are all dead letters.").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Empty the fields" }).click();
    await page.getByLabel("Service", { exact: true }).fill("bad");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("button", { name: "Drop all that match" }).click();

    await dialog.getByText("Those with service bad.").waitFor();
  },
);

browserTest(
  "a drop that was confirmed goes on when its dialog is closed, and the page says so",
  async (context, open) => {
    const { agent, notify } = await pageAgent(context);
    await notify("urn:room:1", "bad");
    const { page } = await open(agent.managementUrl, { view: "dead-letters" });
    await withLetters(page, 1);
    const answer = latch();
    await page.route("**/v1/admin/deadletters?**", async (route) => {
      await answer.opened;
      await route.continue();
    });

    await page.getByRole("button", { name: "Drop all that match" }).click();
    await page.getByRole("button", { name: "Drop", exact: true }).click();
    await page.getByRole("button", { name: "Close", exact: true }).last().click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const areOff = await Promise.all(
      ["Dropping …", "Replay all that match"].map((name) => page.getByRole("button", { name }).isDisabled()),
    );
    answer.open();

    await page.getByText("1 dead letter dropped.").waitFor();
    assert.deepEqual(areOff, [true, true]);
  },
);
