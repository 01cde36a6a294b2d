import assert from "node:assert/strict";
import { test } from "node:test";
import type { PartitionedLog } from "../../core/log/index.js";
import { codeOf } from "../../core/sdk/index.js";
import { put } from "../../core/testing/channel-fixture.js";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { openLogChannel } from "./opened-channel.js";

function withAppend(log: PartitionedLog, append: PartitionedLog["append"]): PartitionedLog {
  return new Proxy(log, {
    get: (target, name) => {
      if (name === "append") return append;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

test("two stops of a channel at the same moment both wait for the put that is on its way, and end", async (context) => {
  const folder = await tempFolder(context);
  let isHeld = false;
  let begin = () => {};
  let goOn = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const goingOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const engine = () => {
    const log = directoryLog({ folder, partitions: 1 });
    const append: typeof log.append = async (...record) => {
      if (isHeld) {
        begin();
        await goingOn;
      }
      return await log.append(...record);
    };
    return withAppend(log, append);
  };
  const channel = await openLogChannel({ folder, engine });
  isHeld = true;
  const put = channel.openPut();
  put.put({ headers: {}, body: { id: "urn:a" } });
  const putting = put.commit();
  await begun;

  const stops = [channel.stop(AbortSignal.timeout(10_000)), channel.stop(AbortSignal.timeout(10_000))];
  goOn();

  const ends = await Promise.allSettled([putting, ...stops]);
  assert.deepEqual(
    ends.map(({ status }) => status),
    ["fulfilled", "fulfilled", "fulfilled"],
  );
});

test("puts that are abandoned at a stop are refused at once, although the log does not answer; what it was not sent is not said to be there", async (context) => {
  const folder = await tempFolder(context);
  let isHeld = false;
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const engine = () => {
    const log = directoryLog({ folder, partitions: 1 });
    const append: typeof log.append = async (...record) => {
      if (!isHeld || record[0] !== 0) return await log.append(...record);
      begin();
      return await new Promise(() => {});
    };
    return withAppend(log, append);
  };
  const channel = await openLogChannel({ folder, engine });
  isHeld = true;
  const first = put(channel, 1).catch(codeOf);
  await begun;
  const behind = put(channel, 2).catch(codeOf);

  channel.abandonPuts?.();
  const outcomes = [await first, await behind, await put(channel, 3).catch(codeOf)];
  await channel.stop(AbortSignal.abort());

  assert.deepEqual(outcomes, ["LOG_UNANSWERED", "LOG_UNAVAILABLE", "CHANNEL_STOPPED"]);
});
