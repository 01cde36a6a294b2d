import assert from "node:assert/strict";
import { test } from "node:test";
import { ChannelCounters } from "../../core/pipeline/counters.js";

const zero = { putsOk: 0, putsFailed: 0, takesOk: 0, takesFailed: 0 };

test("a reset sets the counts of a channel to zero, and not what they were in total", () => {
  const counters = new ChannelCounters();
  counters.putsOk = 3;
  counters.takesFailed = 1;

  counters.reset();
  counters.putsOk += 2;
  counters.reset();
  counters.takesOk += 1;

  assert.equal(counters.putsOk, 0);
  assert.deepEqual(counters.totals, { ...zero, putsOk: 5, takesFailed: 1, takesOk: 1 });
});

test("the totals of a channel that replaces another go on, with what that one still counts", () => {
  const [earlier, counters] = [new ChannelCounters(), new ChannelCounters()];
  earlier.putsOk = 7;

  counters.follow(earlier);
  counters.putsOk += 1;
  earlier.takesOk += 2;
  earlier.reset();

  assert.deepEqual(counters.totals, { ...zero, putsOk: 8, takesOk: 2 });
});
