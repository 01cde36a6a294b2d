import assert from "node:assert/strict";
import { test } from "node:test";
import { SingleFlight } from "../../../../plugins/file-channel/log/single-flight.js";

/** A single flight whose runs end when the test says so. */
function heldFlight(delay?: () => Promise<void>) {
  const begun: { end: () => void; fail: (reason: Error) => void }[] = [];
  const work = () => new Promise<void>((end, fail) => void begun.push({ end, fail }));
  return { flight: new SingleFlight(work, delay), begun };
}

const turn = () => new Promise(setImmediate);

test("calls that come during a run share the next one", async () => {
  const { flight, begun } = heldFlight();
  const first = flight.run();
  await turn();
  const others = [flight.run(), flight.run()];
  begun[0]?.end();
  await first;
  await turn();
  begun[1]?.end();

  await Promise.all(others);

  assert.equal(begun.length, 2);
});

test("calls that come during the delay of a run are served by it", async () => {
  let go: () => void = () => undefined;
  const { flight, begun } = heldFlight(
    () =>
      new Promise((resolve) => {
        go = resolve;
      }),
  );
  const first = flight.run();
  await turn();
  const second = flight.run();
  assert.equal(begun.length, 0);
  go();
  await turn();
  begun[0]?.end();

  await Promise.all([first, second]);

  assert.equal(begun.length, 1);
});

test("a run that fails rejects for its own callers alone, and the next one runs", async () => {
  const { flight, begun } = heldFlight();
  const first = flight.run();
  await turn();
  const second = flight.run();
  begun[0]?.fail(new Error("no disk"));
  await assert.rejects(first, { message: "no disk" });
  await turn();
  begun[1]?.end();

  await second;
});

test("idle when nothing runs or waits, whether it succeeded or not", async () => {
  const { flight, begun } = heldFlight();
  await flight.idle();
  const first = flight.run();
  await turn();
  const second = flight.run();
  let idle = false;
  const waiting = flight.idle().then(() => {
    idle = true;
  });
  begun[0]?.end();
  await first;
  await turn();
  assert.equal(idle, false);
  begun[1]?.fail(new Error("no disk"));
  await assert.rejects(second);

  await waiting;
});

test("a call after the last run begins another one", async () => {
  const { flight, begun } = heldFlight();
  const first = flight.run();
  await turn();
  begun[0]?.end();
  await first;
  const second = flight.run();
  await turn();
  begun[1]?.end();

  await second;

  assert.equal(begun.length, 2);
});
