import { mkdtemp } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { channelConformance } from "../../core/testing/index.js";
import { tempFolder } from "../support/temp-folder.js";
import { anotherLogChannel, openLogChannel, reopenLogChannel } from "./opened-channel.js";

test("a channel over a log in a directory keeps the contract of channels", async (context) => {
  const folder = await tempFolder(context);
  const cases = channelConformance(
    async ({ waitSeconds, ...limits }) => {
      const own = await mkdtemp(path.join(folder, "log-"));
      return await openLogChannel({ folder: own, config: { ...limits, "keep-alive": waitSeconds } });
    },
    { reopen: reopenLogChannel, restart: reopenLogChannel, second: anotherLogChannel, twoAgents: "shared" },
  );
  for (const { name, run } of cases) await context.test(name, run);
});
