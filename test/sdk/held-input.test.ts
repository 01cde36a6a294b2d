import assert from "node:assert/strict";
import { test } from "node:test";
import { HeldInput, type Refused } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";

function heldRecords(retryMillis = 1000) {
  let now = 0;
  const { log, lines } = recordingLog();
  const held = new HeldInput({ input: "record", log, retryMillis, steady: () => now });
  const refused = (cause: string, bytes: number): Refused => {
    const reason = `no room for ${bytes} bytes`;
    return { accepted: false, status: 503, reason, cause, headers: {}, retryable: true, retryAfter: undefined };
  };
  return {
    hold: (offset: number, attempt = 1, cause = "channel-full") =>
      held.held(refused(cause, offset), attempt, { topic: "orion", offset }),
    taken: () => held.taken(),
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    /** Without those that are only for whoever looks for a fault. */
    lines: () => lines.filter(({ level }) => level !== "debug").map(({ level, fields }) => ({ level, ...fields })),
  };
}

const warned = (offset: number, cause = "channel-full") => ({
  level: "warn",
  attempt: 1,
  status: 503,
  cause,
  topic: "orion",
  offset,
  reason: `no room for ${offset} bytes`,
});

test("while a channel takes one record after another slowly the log has one warning, and their number when it is over", () => {
  const { hold, taken, pass, lines } = heldRecords();

  for (let offset = 0; offset < 50; offset += 1) {
    hold(offset);
    pass(1000);
    hold(offset, 2);
    pass(1000);
    taken();
  }
  const meanwhile = lines().length;
  pass(10_000);
  taken();
  taken();
  hold(50);

  assert.equal(meanwhile, 1);
  assert.deepEqual(lines(), [warned(0), { level: "info", records: 50 }, warned(50)]);
});

test("another cause why records are held has a warning of its own", () => {
  const { hold, lines } = heldRecords();

  hold(1);
  hold(2, 1, "channel-failed");
  hold(3);
  hold(4, 1, "channel-failed");

  assert.deepEqual(lines(), [warned(1), warned(2, "channel-failed")]);
});

test("a record that is tried again seldom is held all the time between", () => {
  const { hold, taken, pass, lines } = heldRecords(60_000);
  hold(1);

  pass(60_000);
  taken();
  const between = lines().length;
  pass(60_000);
  taken();

  assert.deepEqual([between, lines().length], [1, 2]);
});
