import assert from "node:assert/strict";
import { test } from "node:test";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { anotherLogChannel, openLogChannel } from "./opened-channel.js";

test("an agent that gives its events back again and again gets nothing done: another one gets its parts", async (context) => {
  const stalled = await openLogChannel({ folder: await tempFolder(context), config: { stall_timeout: 1 } });
  const put = stalled.openPut();
  put.put({ headers: {}, body: { id: "a" } });
  await put.commit();
  const other = await anotherLogChannel(stalled);
  const taking = new AbortController();
  const take = other.openTake();
  const taken = take.take(1, taking.signal);

  await until(
    async () => {
      const again = stalled.openTake();
      await again.take(1, AbortSignal.timeout(50));
      await again.rollback();
      return other.parts?.() ?? [];
    },
    (parts) => parts.every(({ mine }) => mine),
  );

  assert.deepEqual(
    (await taken).map(({ body }) => body),
    [{ id: "a" }],
  );
  await take.commit();
  taking.abort();
  for (const channel of [stalled, other]) await channel.stop(AbortSignal.timeout(1000));
});

test("an agent whose sinks take nothing for a time although events wait gives its parts to another one, and gets some again when they take", async (context) => {
  const idle = await openLogChannel({ folder: await tempFolder(context), config: { stall_timeout: 1 } });
  const other = await anotherLogChannel(idle);
  const idleTakes = idle.openTake();
  const before = idle.parts?.().map(({ mine }) => mine);
  const put = idle.openPut();
  put.put({ headers: {}, body: { id: "a" } });
  await put.commit();

  const take = other.openTake();
  const taken = await take.take(1, AbortSignal.timeout(20_000));
  await take.commit();
  const taking = new AbortController();
  const again = idleTakes.take(1, taking.signal);
  const after = await until(
    async () => idle.parts?.() ?? [],
    (parts) => parts.every(({ mine }) => mine),
  );
  taking.abort();
  await again;

  assert.deepEqual(before, [true]);
  assert.deepEqual(
    taken.map(({ body }) => body),
    [{ id: "a" }],
  );
  assert.equal(after.length, 1);
  for (const channel of [idle, other]) await channel.stop(AbortSignal.timeout(1000));
});
