import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event, TakeTransaction } from "../../../core/sdk/index.js";
import { MemoryChannel } from "../../../plugins/memory-channel/memory-channel.js";
import { seeded } from "../../crash/seeded.js";
import { recordingLog } from "../../support/recording-log.js";

const now = AbortSignal.abort();

const ways = [
  { title: "in turn", fair_taking: true, service_percentage: 50 },
  { title: "in order", fair_taking: false, service_percentage: 50 },
  { title: "in turn, until the channel is full", fair_taking: true, service_percentage: 100 },
] as const;

for (const { title, ...sharing } of ways)
  for (const seed of [1, 2, 3, 4, 5])
    test(`${title}: whatever is put, taken and rolled back, the counts of the services add up to the size (seed ${seed})`, async () => {
      const random = seeded(seed);
      const upTo = (most: number) => Math.floor(random() * most);
      const context = { name: "c1", log: recordingLog().log, dataDir: "", run: "run", now: () => new Date(0) };
      const limits = { capacity: 100, transactionCapacity: 30, "keep-alive": 0, ...sharing };
      const channel = new MemoryChannel(limits, context);
      const takes: Take[] = [];
      let accepted = 0;
      let stored = 0;

      for (let step = 0; step < 2000; step += 1) {
        const dice = upTo(100);
        if (dice < 50) accepted += await putOf(channel, `s${upTo(5)}`, 1 + upTo(8), upTo(3) === 0);
        else if (dice < 70 && takes.length < 4) takes.push(await takeOf(channel, 1 + upTo(30)));
        else stored += await end(takes.splice(upTo(4), 1)[0], upTo(2) === 0);
        const held = channel.largestServices(100)?.reduce((sum, { events }) => sum + events, 0);
        assert.equal(held, channel.size);
        assert.equal(channel.size, accepted - stored);
      }
      assert.ok(stored > 500);
    });

interface Take {
  readonly transaction: TakeTransaction;
  readonly events: number;
}

async function takeOf(channel: MemoryChannel, max: number): Promise<Take> {
  const transaction = channel.openTake();
  return { transaction, events: (await transaction.take(max, now)).length };
}

/** How many events are done by that. */
async function end(take: Take | undefined, isRolledBack: boolean): Promise<number> {
  if (isRolledBack) await take?.transaction.rollback();
  else await take?.transaction.commit();
  return isRolledBack ? 0 : (take?.events ?? 0);
}

/** How many events are in the channel by that: none when the put is refused or rolled back. */
async function putOf(channel: MemoryChannel, service: string, count: number, isGivenUp: boolean): Promise<number> {
  const event: Event = { headers: { "fiware-service": service }, body: 1 };
  const put = channel.openPut();
  for (let at = 0; at < count; at += 1) put.put(event);
  try {
    if (isGivenUp) await put.reserve?.("at-once");
    else await put.commit();
  } catch {
    await put.rollback();
    return 0;
  }
  if (isGivenUp) await put.rollback();
  return isGivenUp ? 0 : count;
}
