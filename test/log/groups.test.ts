import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type Channel, type Event, letterHeader } from "../../core/sdk/index.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { openLogChannel } from "./opened-channel.js";

async function channelOf(context: TestContext, folder: string, group: string): Promise<Channel> {
  const channel = await openLogChannel({ folder, config: { group } });
  context.after(() => channel.stop(AbortSignal.timeout(1000)));
  return channel;
}

async function put(channel: Channel, ...events: readonly Event[]): Promise<void> {
  const transaction = channel.openPut();
  for (const event of events) transaction.put(event);
  await transaction.commit();
}

/** The bodies of what a take gets, until it has got this one. */
async function takenUpTo(channel: Channel, last: string): Promise<readonly unknown[]> {
  const transaction = channel.openTake();
  const taken: unknown[] = [];
  while (taken.at(-1) !== last)
    for (const { body } of await transaction.take(1, AbortSignal.timeout(20_000))) taken.push(body);
  await transaction.commit();
  return taken;
}

test("a dead letter that one group replays is stored by that group alone, and is filtered in the books of others", async (context) => {
  const folder = await tempFolder(context);
  const own = await channelOf(context, folder, "own");
  const other = await channelOf(context, folder, "other");
  const id = `${own.log?.()?.id}/own/0:0+0-a`;
  const replayed = { headers: { [letterHeader]: id }, body: "replayed" };

  await put(own, { headers: {}, body: "first" }, replayed, { headers: {}, body: "last" });

  assert.deepEqual(await takenUpTo(own, "last"), ["first", "replayed", "last"]);
  assert.deepEqual(await takenUpTo(other, "last"), ["first", "last"]);
  const { stored, filtered, unaccounted } = await until(
    async () => other.log?.() ?? assert.fail("the log is not open"),
    ({ waiting, exact }) => waiting === 0 && exact,
  );
  assert.deepEqual([stored, filtered, unaccounted], [2, 1, 0]);
});
