import assert from "node:assert/strict";
import { test } from "node:test";
import { directoryLog } from "../support/directory-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { openLogChannel } from "./opened-channel.js";

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
    return new Proxy(log, {
      get: (target, name) => {
        if (name === "append") return append;
        const member: unknown = Reflect.get(target, name);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
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
