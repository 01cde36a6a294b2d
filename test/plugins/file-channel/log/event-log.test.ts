import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { lockFolder } from "../../../../core/files/folder-lock.js";
import type { QueuedEvent } from "../../../../core/sdk/channel/index.js";
import { textCodecs } from "../../../../core/sdk/index.js";
import { EventLog } from "../../../../plugins/file-channel/log/event-log.js";
import { openNewFile } from "../../../../plugins/file-channel/log/files.js";
import { textsOf } from "../../../../plugins/file-channel/log/stored-event.js";
import { recordingLog } from "../../../support/recording-log.js";
import { tempFolder } from "../../../support/temp-folder.js";
import { copyOf } from "../channel-folder.js";

function logIn(folder: string) {
  const { log, lines } = recordingLog();
  const written: QueuedEvent[] = [];
  const settings = {
    channel: "c",
    checkpointFolder: path.join(folder, "checkpoint"),
    dataFolders: [path.join(folder, "data")],
    // Each append begins a file of its own.
    segmentBytes: 1,
    mostBytes: 1_000_000,
    openFile: openNewFile,
    lockFolder: async (at: string, claim = {}) => await lockFolder(at, claim, { seconds: 0, log }),
    inMemory: false,
    codecs: textCodecs(),
  };
  const watch = {
    written: (group: { readonly events: readonly QueuedEvent[] }) => written.push(...group.events),
    ended: () => {},
    freed: () => {},
  };
  return { events: new EventLog(settings, log, watch), written, lines };
}

function putOf(body: unknown) {
  const events = [{ headers: {}, body }];
  return { events, texts: textsOf(events, textCodecs()), amount: { events: 1, bytes: 0 }, giveBack: () => {} };
}

/** Promises go on, and nothing that needs the disk does. */
async function microtasks(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) await undefined;
}

test("a kill finds no file gone that held events which were done while the checkpoint was being written", async (context) => {
  const folder = await tempFolder(context);
  const { events, written } = logIn(path.join(folder, "killed"));
  await events.open();
  for (const body of [1, 2, 3]) await events.appender.append(putOf(body));
  const [first, second] = written;
  assert.ok(first && second);

  events.complete([first]);
  const saved = events.saveDone();
  await microtasks();
  events.complete([second]);
  await saved;
  const left = await copyOf(path.join(folder, "killed"), path.join(folder, "left"));
  await events.close();
  const next = logIn(left);
  await next.events.open();
  context.after(() => next.events.close());

  assert.deepEqual([next.events.size, next.events.lost], [2, 0]);
  assert.deepEqual(
    next.lines.filter(({ level }) => level === "error"),
    [],
  );
});
