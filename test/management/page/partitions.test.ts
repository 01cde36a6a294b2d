import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { workerOf } from "../../../core/management/page/browser/views/overview/partition-worker.js";
import { browserTest } from "../../support/chromium.js";
import { pageAgent } from "../../support/page-agent.js";
import { sharedChannelModule } from "../../support/shared-channel-module.js";
import { tempFolder } from "../../support/temp-folder.js";

browserTest("the details of a channel that agents share show who works on which partition", async (context, open) => {
  const folder = await tempFolder(context);
  const plugin = path.join(folder, "plugins", "shared");
  await mkdir(plugin, { recursive: true });
  await writeFile(path.join(plugin, "index.js"), sharedChannelModule);
  const flags = ["--plugins", path.join(folder, "plugins")];
  const { agent } = await pageAgent(context, { lines: ["deneb.channels.queue.type = shared"], flags });
  const { page, problems } = await open(agent.managementUrl);

  await page.locator(".card-name", { hasText: "queue" }).click();
  await page.getByText("1 partition without an agent").waitFor();
  await page.getByText("Partitions of queue").click();

  const rows = page.getByLabel("Partitions of queue").locator("tbody tr");
  assert.match(await rows.nth(0).innerText(), /^2\s+none\s+1/);
  assert.match(await rows.nth(1).innerText(), /^0\s+this one\s+1/);
  assert.equal(await rows.count(), 3);
  assert.deepEqual(problems, []);
});

const workers = [
  { agent: "host,7,2026-01-15T10:20:30.123Z,abc", mine: true, says: "this one" },
  { agent: "host,7,2026-01-15T10:20:30.123Z,abc", mine: false, says: "host, process 7" },
  { agent: "odd", mine: false, says: "odd" },
  { mine: false, says: "none" },
] as const;
for (const { says, ...partition } of workers)
  test(`who works on a partition is shown as "${says}"`, () => assert.equal(workerOf(partition), says));
