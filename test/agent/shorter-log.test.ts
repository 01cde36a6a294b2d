import assert from "node:assert/strict";
import { cp, rename, rm } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { logChannel } from "deneb/log";
import { testAgent } from "../../core/embedded/index.js";
import { type AnyPlugin, definePlugin } from "../../core/sdk/index.js";
import { usualConfig } from "../log/opened-channel.js";
import { directoryLog } from "../support/directory-log.js";
import { away, KeepingSink, KeepingStore } from "../support/keeping-sink.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const config = { channels: { c: { type: "directory" } }, sinks: { k: { type: "keeping" } } };

function pluginsOver(folder: string, store: KeepingStore): readonly AnyPlugin[] {
  const about = { summary: "For a test.", stability: "beta", config: {} } as const;
  const log = () => directoryLog({ folder, partitions: 1 });
  return [
    definePlugin({
      ...about,
      kind: "channel",
      type: "directory",
      takers: "one",
      feeders: "others",
      create: (_, context) => logChannel({ log: log(), engine: "directory", config: usualConfig, context }),
    }),
    definePlugin({ ...about, kind: "sink", type: "keeping", create: () => new KeepingSink(store) }),
  ];
}

function notification(room: number) {
  const data = [{ id: `urn:ngsi-ld:Room:${room}`, type: "Room" }];
  return { body: { id: `urn:n:${room}`, type: "Notification", subscriptionId: "s", data } };
}

test("while the database is away an agent that starts accepts nothing into a log that was restored, and everything once it is back", async (context) => {
  const [dataDir, folder] = [await tempFolder(context), await tempFolder(context)];
  const [log, copy] = [path.join(folder, "log"), path.join(folder, "copy")];
  const store = new KeepingStore();
  const start = async () => {
    const agent = await testAgent({ config, dataDir, plugins: pluginsOver(log, store) });
    context.after(() => agent.stop());
    return agent;
  };
  const before = await start();
  const accepted: number[] = [];
  const send = async (room: number) => {
    if ((await before.inject(notification(room))).status === 200) accepted.push(room);
    await before.settled();
  };
  await send(1);
  await cp(log, copy, { recursive: true });
  for (const room of [2, 3]) await send(room);
  await before.stop();
  store.failure = away();
  await rm(log, { recursive: true });
  await rename(copy, log);

  const agent = await start();
  const { status } = await agent.inject(notification(4));
  store.failure = undefined;
  await until(
    () => agent.inject(notification(5)),
    (answer) => answer.status === 200,
  );
  await agent.settled();

  assert.deepEqual([accepted, status], [[1, 2, 3], 503]);
  assert.match(JSON.stringify(store.rows.at(-1)), /Room:5/);
});
