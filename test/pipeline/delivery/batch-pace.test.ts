import assert from "node:assert/strict";
import { test } from "node:test";
import { roomOf } from "../../../core/agent/channel-room.js";
import { Pace } from "../../../core/pipeline/delivery/pace.js";
import { worthWaitingFor } from "../../../core/pipeline/delivery/worth-waiting-for.js";

const large = 10_000;

/** A pace after batches of this many events, one every so many milliseconds, for a second. */
function paced(events: number, everyMillis: number, most = large): Pace {
  const pace = new Pace(most);
  for (let now = 0; now <= 1000; now += everyMillis) pace.taken(events, now);
  return pace;
}

test("before the first batch, and while few events come, none waits for more", () => {
  assert.equal(new Pace(large).millis(1000), 0);
  assert.equal(paced(1, 100).millis(1000), 0);
  assert.equal(paced(1, 10).millis(1000), 0);
});

test("while many events come a batch waits as long as 250 of them need, and at most 20 ms", () => {
  const at20 = paced(100, 5).millis(1000);
  const at2 = paced(10, 5).millis(1000);

  assert.ok(at20 > 10 && at20 < 14, `${at20} ms at 20 events a millisecond`);
  assert.equal(at2, 20);
});

test("a batch from a channel of few events does not wait until the channel is full", () => {
  const small = paced(100, 5, 40).millis(1000);

  assert.ok(small > 1.5 && small < 2.5, `${small} ms`);
});

test("a batch waits for a third of what its channel holds; of a channel that does not say, for one take", () => {
  assert.deepEqual(worthWaitingFor(100, { events: 1000 }), { events: 333, bytes: Number.POSITIVE_INFINITY });
  assert.deepEqual(worthWaitingFor(100, { events: 100, bytes: 3000 }), { events: 33, bytes: 1000 });
  assert.deepEqual(worthWaitingFor(100, { events: 2 }), { events: 1, bytes: Number.POSITIVE_INFINITY });
  assert.deepEqual(worthWaitingFor(100, {}), { events: 100, bytes: Number.POSITIVE_INFINITY });
});

test("a batch waits for a third of what one service may hold in its channel, which is full for that service then", () => {
  assert.deepEqual(roomOf({ config: { capacity: 300, byteCapacity: 9000, service_percentage: 10 } }), {
    events: 30,
    bytes: 900,
  });
  assert.deepEqual(roomOf({ config: { capacity: 300, byteCapacity: -1 } }), { events: 300, bytes: undefined });
  assert.deepEqual(roomOf({ config: { memoryCapacity: 100, overflowCapacity: 900, service_percentage: 50 } }), {
    events: 500,
    bytes: undefined,
  });
});

test("a large notification alone is no pace: what comes a moment later does not wait", () => {
  const pace = new Pace(large);
  pace.taken(100, 1000);

  assert.ok(pace.millis(1000) > 0);
  assert.equal(pace.millis(1100), 0);
});

test("a batch does not wait once there are enough events, nor after the agent stops", async () => {
  const pace = new Pace(large);
  let now = 1000;
  const clock = () => now++;
  pace.taken(100_000, clock());
  let looks = 0;
  const looking = (hasEnough: boolean) => () => {
    looks += 1;
    return hasEnough;
  };

  await pace.linger(looking(true), new AbortController().signal, clock);
  await pace.linger(looking(false), AbortSignal.abort(), clock);

  assert.equal(looks, 2);
});
