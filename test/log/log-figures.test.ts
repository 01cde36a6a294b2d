import assert from "node:assert/strict";
import { test } from "node:test";
import { put } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";
import { anotherLogChannel, openLogChannel } from "./opened-channel.js";

test("what an agent has appended and the agent of the partition has not read is not said to be all there is", async (context) => {
  const folder = await tempFolder(context);
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  let isHeld = false;
  let agents = 0;
  const engine = () => {
    agents += 1;
    const isFirst = agents === 1;
    const log = directoryLog({ folder, partitions: 1 });
    const { read } = log;
    log.read = async (from, limits, signal) => {
      if (isFirst && isHeld && from.has(0)) await held;
      return await read.call(log, from, limits, signal);
    };
    return log;
  };
  const working = await openLogChannel({ folder, engine });
  const other = await anotherLogChannel(working);
  context.after(() => Promise.all([working, other].map((channel) => channel.stop(AbortSignal.abort()))));
  await until(
    async () => working.log?.()?.agents.length,
    (count) => count === 2,
  );
  await put(other, 1);
  await until(
    async () => other.log?.(),
    (log) => log?.exact === true && log.waiting === 1,
  );

  isHeld = true;
  await put(working, 2);
  await put(other, 3);
  const before = other.log?.();
  go();
  const after = await until(
    async () => other.log?.(),
    (log) => log?.exact === true,
  );

  assert.deepEqual([before?.exact, before?.unaccounted], [false, 0]);
  assert.deepEqual([after?.waiting, after?.unaccounted], [3, 0]);
});
