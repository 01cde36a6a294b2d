import assert from "node:assert/strict";
import { test } from "node:test";
import { CountedTake, type TakeWatch } from "../../core/pipeline/counted-transactions.js";
import { ChannelCounters } from "../../core/pipeline/counters.js";
import type { Event, TakeTransaction } from "../../core/sdk/index.js";
import { collectGarbage, oldBytes } from "../support/heap-used.js";

const ROUNDS = 300;
/** A batch that is larger than transactionCapacity has several. */
const TAKES = 5;
const never = new AbortController().signal;

test("events of takes that are done leave no garbage in the old generation", async () => {
  const watch = {
    counters: new ChannelCounters(),
    received: [],
    clock: { of: (time: number) => time },
    noteLost: () => {},
  };
  // The first time code is compiled.
  await takeBatches(watch);
  collectGarbage();
  const before = oldBytes();

  await takeBatches(watch);

  const bytes = (oldBytes() - before) / ROUNDS / TAKES;
  assert.ok(
    bytes < 1000,
    `${bytes} bytes for each event, which has some 5,000; a Map of the open takes leaves all of them`,
  );
});

async function takeBatches(watch: TakeWatch): Promise<void> {
  for (let round = 1; round <= ROUNDS; round += 1) await takeBatch(watch, round);
}

/** A function of its own: what one batch held is not on the stack while the next one is taken. */
async function takeBatch(watch: TakeWatch, round: number): Promise<void> {
  const open: CountedTake[] = [];
  for (let at = 0; at < TAKES; at += 1) {
    const take = new CountedTake(takeOf(large(round)), watch);
    await take.take(1, never);
    open.push(take);
    if (at === round % TAKES) collectGarbage({ type: "minor" });
  }
  for (const take of open) await take.commit();
}

function takeOf(event: Event): TakeTransaction {
  const events = [event];
  return { take: async () => events, commit: async () => {}, rollback: async () => {} };
}

function large(round: number): Event {
  return { headers: { timestamp: `${round}` }, body: Array.from({ length: 100 }, (_, member) => ({ round, member })) };
}
