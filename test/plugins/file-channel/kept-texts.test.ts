import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { lockFolder } from "../../../core/files/folder-lock.js";
import { notificationCodec } from "../../../core/ngsi/index.js";
import type { ChannelContext, Event } from "../../../core/sdk/index.js";
import { FileChannel, type LogConfig } from "../../../plugins/file-channel/file-channel.js";
import { NgsiRestHandler } from "../../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { handlerConfig, inboundRequest } from "../ngsi-rest-handler/inbound-request.js";
import { copyOf, dataFolder, usual } from "./channel-folder.js";

const now = AbortSignal.abort();
const handler = new NgsiRestHandler(handlerConfig);

/** The events of a notification, pretty-printed, with an entity for each value. */
function eventsOf(...values: readonly number[]): readonly Event[] {
  const data = values.map((value) => ({ id: `urn:r:${value}`, type: "Room", t: { type: "Property", value } }));
  return handler.decode(inboundRequest({ body: JSON.stringify({ type: "Notification", data }, undefined, 1) })).events;
}

async function opened(dataDir: string, config: Partial<LogConfig> = {}): Promise<FileChannel> {
  const { log } = recordingLog();
  const lock: ChannelContext["lockFolder"] = (at, claim = {}) => lockFolder(at, claim, { seconds: 0, log });
  const context = { name: "c1", log, dataDir, run: "run", now: () => new Date(0), lockFolder: lock };
  const channel = new FileChannel({ ...usual, ...config }, { ...context, textCodecs: [notificationCodec] });
  await channel.start();
  return channel;
}

async function put(channel: FileChannel, events: readonly Event[]): Promise<void> {
  const transaction = channel.openPut(events.length);
  for (const event of events) transaction.put(event);
  await transaction.commit();
}

const ways = [
  { title: "in order", config: {} },
  { title: "the services in turn", config: { fair_taking: true, service_percentage: 60 } },
] as const;

for (const { title, config } of ways)
  test(`notifications that a channel has kept as they were sent are the same events after a kill, ${title}`, async (context) => {
    const folder = await tempFolder(context);
    const channel = await opened(path.join(folder, "killed"), config);
    context.after(() => channel.stop());
    const [one, several, changed] = [eventsOf(1), eventsOf(2, 3), eventsOf(4)];
    const other = changed.map(({ headers, body }) => ({ headers, body: { ...Object(body), type: "Other" } }));
    for (const events of [one, several, other]) await put(channel, events);

    const left = await copyOf(path.join(folder, "killed"), path.join(folder, "left"));
    const next = await opened(left, config);
    const take = next.openTake();
    const events = await take.take(10, now);
    await take.commit();
    await next.stop();

    assert.deepEqual(events, [...one, ...several, ...other]);
    const [file = ""] = await readdir(dataFolder(path.join(folder, "killed")));
    const bytes = await readFile(path.join(dataFolder(path.join(folder, "killed")), file));
    assert.ok(bytes.includes('"id": "urn:r:1"'), "the text of one entity as it was sent");
    assert.ok(bytes.includes('"id":"urn:r:2"'), "several as events");
    assert.ok(bytes.includes('"type":"Other"'), "what was changed as it is");
  });
