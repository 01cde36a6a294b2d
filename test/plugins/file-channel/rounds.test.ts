import assert from "node:assert/strict";
import { test } from "node:test";
import { Rounds } from "../../../plugins/file-channel/rounds.js";

/** Rounds whose work ends when the test says so. */
function heldRounds(gather?: () => Promise<void>) {
  const begun: { end: () => void; fail: (reason: Error) => void }[] = [];
  const work = () => new Promise<void>((end, fail) => void begun.push({ end, fail }));
  return { rounds: new Rounds(work, gather), begun };
}

const turn = () => new Promise(setImmediate);

test("calls that come while a round runs share the next one", async () => {
  const { rounds, begun } = heldRounds();
  const first = rounds.run();
  await turn();
  const others = [rounds.run(), rounds.run()];
  begun[0]?.end();
  await first;
  await turn();
  begun[1]?.end();

  await Promise.all(others);

  assert.equal(begun.length, 2);
});

test("calls that come while a round gathers are served by it", async () => {
  let go: () => void = () => undefined;
  const { rounds, begun } = heldRounds(
    () =>
      new Promise((resolve) => {
        go = resolve;
      }),
  );
  const first = rounds.run();
  await turn();
  const second = rounds.run();
  assert.equal(begun.length, 0);
  go();
  await turn();
  begun[0]?.end();

  await Promise.all([first, second]);

  assert.equal(begun.length, 1);
});

test("a round that fails tells its own callers alone, and the next one runs", async () => {
  const { rounds, begun } = heldRounds();
  const first = rounds.run();
  await turn();
  const second = rounds.run();
  begun[0]?.fail(new Error("no disk"));
  await assert.rejects(first, { message: "no disk" });
  await turn();
  begun[1]?.end();

  await second;
});

test("settled when nothing runs or waits, whether it succeeded or not", async () => {
  const { rounds, begun } = heldRounds();
  await rounds.settled();
  const first = rounds.run();
  await turn();
  const second = rounds.run();
  let settled = false;
  const settling = rounds.settled().then(() => {
    settled = true;
  });
  begun[0]?.end();
  await first;
  await turn();
  assert.equal(settled, false);
  begun[1]?.fail(new Error("no disk"));
  await assert.rejects(second);

  await settling;
});

test("a call after the last round begins another one", async () => {
  const { rounds, begun } = heldRounds();
  const first = rounds.run();
  await turn();
  begun[0]?.end();
  await first;
  const second = rounds.run();
  await turn();
  begun[1]?.end();

  await second;

  assert.equal(begun.length, 2);
});
