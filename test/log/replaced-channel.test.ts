import assert from "node:assert/strict";
import { test } from "node:test";
import { CountedChannel } from "../../core/pipeline/counted-channel.js";
import type { Event } from "../../core/sdk/index.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { anotherLogChannel, openLogChannel } from "./opened-channel.js";

const eventOf = (id: string): Event => ({ headers: {}, body: { id } });

test("what agents share stays in its log when a channel of one agent takes the place of theirs, and others store it", async (context) => {
  const inner = await openLogChannel({ folder: await tempFolder(context) });
  const shared = new CountedChannel(inner);
  const own = new CountedChannel(await openLogChannel({ folder: await tempFolder(context) }));
  const put = shared.openPut();
  for (const id of ["a", "b", "c"]) put.put(eventOf(id));
  await put.commit();
  await until(
    async () => shared.size,
    (size) => size === 3,
  );

  assert.equal(await own.inherit(shared), 0);
  assert.equal(own.size, 0);

  const other = await anotherLogChannel(inner);
  await shared.stop(AbortSignal.timeout(1000));
  const take = other.openTake();
  const taken = await take.take(10, AbortSignal.timeout(30_000));
  assert.deepEqual(
    taken.map(({ body }) => body),
    ["a", "b", "c"].map((id) => ({ id })),
  );
  await take.commit();
  for (const channel of [other, own]) await channel.stop(AbortSignal.timeout(1000));
});
