import assert from "node:assert/strict";
import { test } from "node:test";
import { type QueuedEvent, WaitingTakes } from "../../core/sdk/channel/index.js";
import { type Event, onAbort } from "../../core/sdk/index.js";
import { collectGarbage, oldBytes } from "../support/heap-used.js";

const ROUNDS = 300;

test("a signal that outlives much work keeps nothing of it, although there is always something that listens", async () => {
  const { signal } = new AbortController();
  let stopBefore = () => {};

  const bytes = await leftBy((round) => {
    const event = large(round);
    const stop = onAbort(signal, () => void event.body);
    stopBefore();
    stopBefore = stop;
  });

  assert.ok(bytes < 1000, `${bytes} bytes for each listener, of which each holds some 5,000`);
});

test("takes that have waited keep nothing of what they were given, although there is always one that waits", async () => {
  const takes = new WaitingTakes();
  const { signal } = new AbortController();
  void takes.wait(1, signal);

  const bytes = await leftBy(async (round) => {
    const { first } = takes;
    void takes.wait(1, signal);
    first?.settle([queued(round)]);
  });

  assert.ok(bytes < 1000, `${bytes} bytes for each take, of which each was given some 5,000`);
});

/** What each round leaves in the old generation, in bytes. */
async function leftBy(work: (round: number) => void | Promise<void>): Promise<number> {
  // The first time code is compiled.
  await rounds(work);
  collectGarbage();
  const before = oldBytes();
  await rounds(work);
  return (oldBytes() - before) / ROUNDS;
}

async function rounds(work: (round: number) => void | Promise<void>): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    await work(round);
    collectGarbage({ type: "minor" });
  }
}

function queued(sequence: number): QueuedEvent {
  return { sequence, event: large(sequence) };
}

function large(round: number): Event {
  return { headers: { timestamp: `${round}` }, body: Array.from({ length: 100 }, (_, member) => ({ round, member })) };
}
