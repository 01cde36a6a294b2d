import assert from "node:assert/strict";
import { test } from "node:test";
import { PositionGate } from "../../../core/pipeline/delivery/position-gate.js";
import { latch } from "../../support/latch.js";
import { warningsDuring } from "../../support/warnings.js";

const never = new AbortController().signal;

function setUp() {
  const skipped: string[] = [];
  const gate = new PositionGate({
    skipTo: async (position) => {
      skipped.push(position);
    },
  });
  return { gate, skipped };
}

/** True when it is settled after everything that can go on has gone on. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(() => true);
  return await Promise.race([settled, new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);
}

test("a gate opens when all that joined have arrived, and leaves out the positions of each before", async () => {
  const { gate, skipped } = setUp();
  const [one, other] = [gate.join(), gate.join()];

  const skips = [await one.skip("c:1")];
  const first = one.arrive(never);
  const before = [gate.isOpen, await isSettled(first)];
  skips.push(await other.skip("c:2"));
  const opened = await Promise.all([first, other.arrive(never)]);

  assert.deepEqual(before, [false, false]);
  assert.deepEqual(opened, [true, true]);
  assert.deepEqual(skips, [true, true]);
  assert.deepEqual(skipped, ["c:1", "c:2"]);
});

test("one that leaves is not waited for, and a second leave does nothing", async () => {
  const { gate } = setUp();
  const [one, leaving, third] = [gate.join(), gate.join(), gate.join()];
  const first = one.arrive(never);

  leaving.leave();
  leaving.leave();
  const before = await isSettled(first);
  third.leave();

  assert.equal(before, false);
  assert.equal(await first, true);
});

test("a gate that everybody leaves stays closed: who joins then tells its positions before any take", async () => {
  const { gate, skipped } = setUp();
  const [one, other] = [gate.join(), gate.join()];
  const stop = new AbortController();
  const arriving = one.arrive(stop.signal);
  stop.abort();
  const passed = await arriving;
  one.leave();
  other.leave();

  const successor = gate.join();
  const skipping = await successor.skip("c:7");

  assert.deepEqual([passed, gate.isOpen, skipping], [false, false, true]);
  assert.deepEqual(skipped, ["c:7"]);
  assert.equal(await successor.arrive(never), true);
});

test("a successor that joins before the other leaves is waited for", async () => {
  const { gate } = setUp();
  const [waiting, replaced] = [gate.join(), gate.join()];
  const first = waiting.arrive(never);

  const successor = gate.join();
  replaced.leave();
  const before = await isSettled(first);
  await successor.arrive(never);

  assert.equal(before, false);
  assert.equal(await first, true);
});

test("one that is still leaving out its positions is waited for", async () => {
  const { opened: skipping, open: done } = latch();
  const gate = new PositionGate({ skipTo: () => skipping });
  const [one, other, third] = [gate.join(), gate.join(), gate.join()];
  const first = one.arrive(never);

  const skip = other.skip("c:1");
  third.leave();
  const before = await isSettled(first);
  done();
  await skip;
  await other.arrive(never);

  assert.equal(before, false);
  assert.equal(await first, true);
});

test("one that comes when the gate is open passes, and its positions are left to itself", async () => {
  const { gate, skipped } = setUp();
  await gate.join().arrive(never);
  const late = gate.join();

  const skipping = await late.skip("c:1");

  assert.equal(skipping, false);
  assert.deepEqual(skipped, []);
  assert.equal(await late.arrive(never), true);
});

test("many wait at one gate without a warning of Node", async () => {
  const { gate } = setUp();
  const tickets = Array.from({ length: 12 }, () => gate.join());

  const warnings = await warningsDuring(() =>
    Promise.all(tickets.map((ticket) => ticket.arrive(new AbortController().signal))),
  );

  assert.deepEqual(warnings, []);
});
