import assert from "node:assert/strict";
import { test } from "node:test";
import { notificationCodec } from "../../core/ngsi/index.js";
import type { Event } from "../../core/sdk/index.js";
import { NgsiRestHandler } from "../../plugins/ngsi-rest-handler/ngsi-rest-handler.js";
import { handlerConfig, inboundRequest } from "../plugins/ngsi-rest-handler/inbound-request.js";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { openLogChannel, reopenLogChannel } from "./opened-channel.js";

const soon = () => AbortSignal.timeout(10_000);
const handler = new NgsiRestHandler(handlerConfig);

/** The events of a notification, pretty-printed, with an entity for each value. */
function eventsOf(...values: readonly number[]): readonly Event[] {
  const data = values.map((value) => ({ id: "urn:r:1", type: "Room", t: { type: "Property", value } }));
  return handler.decode(inboundRequest({ body: JSON.stringify({ type: "Notification", data }, undefined, 1) })).events;
}

test("notifications that a log keeps as they were sent are the same events for another agent", async (context) => {
  const folder = await tempFolder(context);
  const first = await openLogChannel({ folder, codecs: [notificationCodec] });
  context.after(() => first.stop(AbortSignal.abort()));
  const [one, several, changed] = [eventsOf(1), eventsOf(2, 3), eventsOf(4)];
  const other = changed.map(({ headers, body }) => ({ headers, body: { ...Object(body), type: "Other" } }));
  for (const events of [one, several, other]) {
    const put = first.openPut(events.length);
    for (const event of events) put.put(event);
    await put.commit();
  }

  const next = await reopenLogChannel(first);
  context.after(() => next.stop(AbortSignal.abort()));
  const take = next.openTake();
  const events = await take.take(10, soon());
  await take.commit();

  assert.deepEqual(events, [...one, ...several, ...other]);
  const log = directoryLog({ folder, partitions: 1 });
  await log.open(soon());
  const read = await log.read(new Map([[0, 0]]), { bytes: 1_000_000, waitMillis: 0 }, soon());
  const text = Buffer.concat((read.get(0) ?? []).map(({ value }) => value)).toString();
  await log.close(soon());
  assert.ok(text.includes('"id": "urn:r:1"'), "the text of one entity as it was sent");
  assert.ok(text.includes('"id":"urn:r:1"'), "several as events");
  assert.ok(text.includes('"type":"Other"'), "what was changed as it is");
});
