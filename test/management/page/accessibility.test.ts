import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { browserTest } from "../../support/chromium.js";
import { type PageAgent, pageAgent } from "../../support/page-agent.js";
import { until } from "../../support/until.js";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const views = ["", "dead-letters", "arrivals", "explain", "ledger", "configuration", "subscriptions", "logs"] as const;
/** Each layout, which the width decides, and both schemes. */
const screens = [
  { width: 360, colorScheme: "light" },
  { width: 768, colorScheme: "dark" },
  { width: 1280, colorScheme: "light" },
] as const;

browserTest("every view is accessible and fits a phone, a tablet and a desk, light and dark", async (context, open) => {
  const agent = await troubledAgent(context);
  const { page } = await open(agent.agent.managementUrl);
  await page.locator(".card").first().waitFor();

  for (const view of views) {
    await show(page, agent, view);
    for (const { width, colorScheme } of screens) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });

      const of = `${view} at ${width}, ${colorScheme}`;
      assert.deepEqual(await violationsOf(page), [], of);
      const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      assert.ok(Number(overflow) <= 0, `${of} is ${overflow} pixels too wide`);
    }
  }
});

browserTest("dialogs and the form for a token are accessible, light and dark", async (context, open) => {
  const agent = await troubledAgent(context);
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await open(agent.agent.managementUrl, { view: "dead-letters", settings: { colorScheme } });
    await page.locator("tbody .entity").first().click();
    await page.getByRole("dialog").getByLabel("The event").waitFor();
    assert.deepEqual(await violationsOf(page), []);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Dry run of all that match" }).click();
    await page.getByRole("dialog").getByText("Nothing was changed.").waitFor();
    assert.deepEqual(await violationsOf(page), []);
  }
  const guarded = await pageAgent(context, { env: { DENEB_MANAGEMENT_ADMIN_TOKENS: "t" } });
  const { page } = await open(guarded.agent.managementUrl);
  await page.getByLabel("Token").waitFor();

  assert.deepEqual(await violationsOf(page), []);
});

browserTest(
  "by keyboard alone: to a view, to a component, into a dialog and back to where it was",
  async (context, open) => {
    const agent = await troubledAgent(context);
    const { page } = await open(agent.agent.managementUrl);
    await page.locator(".card").first().waitFor();

    await page.keyboard.press("Tab");
    await focusIsOn(page, /^Skip to the view$/);
    await page.keyboard.press("Enter");
    await focusIsOn(page, /^Overview$/);
    await tabTo(page, "http-source");
    await page.keyboard.press("Enter");
    await page.locator(".details").waitFor();
    await focusIsOn(page, /source http-source/);
    await tabTo(page, "✕");
    await page.keyboard.press("Space");
    await page.locator(".details").waitFor({ state: "detached" });
    await page.keyboard.press("Tab");
    await tabTo(page, /Dead letters/);
    await page.keyboard.press("Enter");
    await page.locator("tbody .entity").first().waitFor();
    await focusIsOn(page, /^Dead letters$/);
    await tabTo(page, /Drop all that match/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await tabTo(page, "Cancel");
    await page.keyboard.press("Enter");

    await page.getByRole("dialog").waitFor({ state: "detached" });
    await focusIsOn(page, /Drop all that match/);
  },
);

browserTest(
  "numbers that change each second are in no live region; a changed health is read out",
  async (context, open) => {
    const lines = ["rdb_dialect = postgresql", "rdb_host = 127.0.0.1", "rdb_port = 1", "rdb_folder ="];
    const { agent, notify } = await pageAgent(context, { lines: lines.map((line) => `deneb.sinks.store.${line}`) });
    const { page } = await open(agent.managementUrl);
    await page.getByText("All 3 components are up.").first().waitFor();
    const before = await page.locator('[role="status"], [role="alert"], [aria-live]').allTextContents();

    await notify("urn:room:1");
    const down = page.locator(".problems [role=status]", { hasText: "Not ready. Of 3 components, 1 is down." });
    await down.waitFor({ state: "attached" });

    assert.equal(before.join(""), "");
  },
);

/** An agent with a sink that is down, and dead letters. */
async function troubledAgent(context: Parameters<Parameters<typeof browserTest>[1]>[0]): Promise<PageAgent> {
  const agent = await pageAgent(context, {
    env: { DENEB_BROKER_TARGETS: "localhost:1026" },
    lines: [
      "deneb.channels = queue other",
      "deneb.sinks = store away next",
      "deneb.sources.http-source.channels = queue other",
      "deneb.channels.other.type = memory",
      "deneb.sinks.away.type = rdb",
      "deneb.sinks.away.channel = other",
      "deneb.sinks.away.rdb_host = 127.0.0.1",
      "deneb.sinks.away.rdb_port = 1",
      "deneb.sinks.next.type = logger",
      "deneb.sinks.next.channel = other",
      "deneb.sinkgroups = pair",
      "deneb.sinkgroups.pair.sinks = away next",
      "deneb.sinkgroups.pair.processor.type = failover",
    ],
  });
  for (let n = 0; n < 3; n += 1) await agent.notify(`urn:ngsi-ld:Room:${"long-name-".repeat(12)}${n}`, "bad");
  await agent.configure("deneb.channels.queue.capacity = 12345", "deneb.channels.queue.capacty = 1");
  return agent;
}

/** Opens a view and what it shows on request. */
async function show(page: Page, { agent }: PageAgent, view: (typeof views)[number]): Promise<void> {
  await page.goto(`${agent.managementUrl}/ui/#/${view}`);
  await page.locator(`nav a[href="#/${view}"][aria-current="page"]`).waitFor();
  await page.getByText("Loading …").waitFor({ state: "detached" });
  if (view === "") await page.locator(".card-name").first().click();
  if (view === "dead-letters") await page.locator("tbody .entity").first().waitFor();
  if (view === "configuration") {
    await page.locator(".faults li").first().waitFor();
    await page.getByText("Properties of the file").click();
    await page.getByRole("cell", { name: "deneb.sources", exact: true }).waitFor();
  }
  if (view === "logs") await page.getByLabel("Level of store").waitFor();
  if (view === "explain") {
    const data = [{ id: "urn:1", type: "Room", temperature: { type: "Property", value: 1 } }];
    await page
      .getByLabel("Notification")
      .fill(JSON.stringify({ id: "n", type: "Notification", subscriptionId: "s", data }));
    await page.getByLabel("Fiware-Service", { exact: true }).fill("good");
    await page.getByRole("button", { name: "Explain" }).click();
    await page.getByRole("heading", { name: "What would happen" }).waitFor();
  }
}

/** What axe finds, in a line each. */
async function violationsOf(page: Page): Promise<unknown> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe);
  return await page.evaluate(`axe.run().then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 200)).join(" | ")))`);
}

/** The page moves the focus a moment after it has drawn what gets it. */
async function focusIsOn(page: Page, wanted: RegExp): Promise<void> {
  await until(
    () => focused(page),
    (text) => wanted.test(text),
  );
}

async function focused(page: Page): Promise<string> {
  return String(await page.evaluate("(document.activeElement.innerText || document.activeElement.id).trim()"));
}

/** Presses Tab until the focus is on the control with this text. */
async function tabTo(page: Page, text: string | RegExp): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    const now = await focused(page);
    if (typeof text === "string" ? now === text : text.test(now)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`no control with the text ${text} is reached by Tab`);
}
