import assert from "node:assert/strict";
import { test } from "node:test";
import { LogTake } from "../../core/log/log-take.js";
import { WaitingTurns } from "../../core/log/waiting-turns.js";
import { oneEvent, ownPart } from "./own-part.js";

test("what comes for a take after its end goes back, and the take ends its hold on the part once", async () => {
  const own = ownPart();
  const turns = new WaitingTurns(new Map([[0, own]]));
  const put = (offset: number) => {
    own.queue.add({ from: offset, records: [oneEvent(offset)] });
    turns.wake();
  };
  const open = () =>
    new LogTake({
      channel: "c1",
      most: 10,
      take: (max, held, signal) => turns.take(max, held, signal),
      release: ({ events }, settled) => {
        own.queue.release(events, settled);
        own.holders -= 1;
      },
      restore: ({ events }, ends) => {
        own.queue.restore(events);
        if (ends) own.holders -= 1;
      },
      left: () => {},
      owner: () => ({ log: "l", group: "g" }),
    });
  const signal = new AbortController().signal;
  put(0);
  put(1);
  const [first, second] = [open(), open()];
  await first.take(1, signal);
  await second.take(1, signal);

  const late = first.take(1, signal);
  await first.commit();
  put(2);

  assert.deepEqual(await late, []);
  assert.equal(own.queue.waiting, 1);
  assert.equal(own.holders, 1, "the second take holds the part");
  await second.commit();
  assert.equal(own.holders, 0);
});
