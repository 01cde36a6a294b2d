import assert from "node:assert/strict";
import { test } from "node:test";
import { LogTake } from "../../core/log/log-take.js";
import type { OwnPart } from "../../core/log/own-parts.js";
import { WaitingTurns } from "../../core/log/waiting-turns.js";
import { oneEvent, ownPart } from "./own-part.js";

/** A take that gets what waits in one part. */
function takeOf(own: OwnPart, isHeard = () => true): LogTake {
  return new LogTake({
    channel: "c1",
    most: 10,
    take: async (max) => ({ own, events: own.queue.take(max) }),
    release: () => {},
    restore: () => {},
    left: () => {},
    owner: () => ({ log: "l", group: "g" }),
    isHeard,
  });
}

test("a take says when its part is left to other agents", async () => {
  const own = ownPart();
  own.queue.add({ from: 0, records: [oneEvent(0)] });
  const take = takeOf(own);
  await take.take(1, new AbortController().signal);
  const before = take.positions.leaving;

  own.leaving = true;

  assert.deepEqual([before, take.positions.leaving], [false, true]);
});

test("a take is left to other agents while these may not know of this one, as after it was frozen", async () => {
  const own = ownPart();
  own.queue.add({ from: 0, records: [oneEvent(0)] });
  let isHeard = true;
  const take = takeOf(own, () => isHeard);
  await take.take(1, new AbortController().signal);
  const before = take.positions.leaving;

  isHeard = false;

  assert.deepEqual([before, take.positions.leaving], [false, true]);
});

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
      isHeard: () => true,
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

test("what a take hears to be stored is in the books of its part, also what was gone before it was read", async () => {
  const own = ownPart();
  own.queue.skip(3);
  own.queue.add({ from: 3, records: [oneEvent(3), oneEvent(4)] });
  const take = new LogTake({
    channel: "c1",
    most: 10,
    take: async (max) => ({ own, events: own.queue.take(max) }),
    release: ({ events }, settled) => own.queue.release(events, settled),
    restore: ({ events }) => own.queue.restore(events),
    left: () => {},
    owner: () => ({ log: "l", group: "g" }),
    isHeard: () => true,
  });
  const [first] = await take.take(2, new AbortController().signal);

  const covered = take.positions.coveredBy("l/g/0:3+0:6,6,0,0");
  await take.commit();

  assert.deepEqual(covered, [first]);
  assert.deepEqual([own.queue.done.events, own.queue.done.stored, own.queue.lost], [7, 7, 0]);
});
