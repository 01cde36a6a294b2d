import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { SharedLetterListener } from "../../core/sdk/index.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { anotherLogChannel, cutOffLog, openLogChannel } from "./opened-channel.js";

test("an agent that cannot take over the dead letters of others, as on a full disk, leaves its parts to them until it can", async (context) => {
  const full = await openLogChannel({ folder: await tempFolder(context), partitions: 2, config: { stall_timeout: 1 } });
  const ending = new AbortController();
  let isFull = true;
  const listener: SharedLetterListener = {
    entries: async () => {
      if (isFull) throw new Error("ENOSPC");
    },
    caughtUp: () => {},
  };
  const follow = () => full.letters?.follow(0, listener, ending.signal);
  const following = follow();
  await full.letters?.append(["a letter"]);
  await assert.rejects(async () => await following, /ENOSPC/);
  const dead = await anotherLogChannel(full);
  cutOffLog(dead);
  // A session until it is gone, and a moment in which its part is wanted.
  await pause(2000);
  const other = await anotherLogChannel(full);
  context.after(async () => {
    ending.abort();
    for (const channel of [full, other, dead]) await channel.stop(AbortSignal.timeout(1000));
  });

  await until(
    async () => other.parts?.() ?? [],
    (parts) => parts.every(({ mine }) => mine),
  );
  isFull = false;
  const again = follow();
  await until(
    async () => full.parts?.() ?? [],
    (parts) => parts.some(({ mine }) => mine),
  );

  ending.abort();
  await again;
});
