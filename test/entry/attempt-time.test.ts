import assert from "node:assert/strict";
import { getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import { test } from "node:test";
import { settleAttemptTime } from "../../core/entry/attempt-time.js";

const satelliteMillis = 550;

test("an address has the time of a handshake over a satellite before the next one is tried", (context) => {
  const before = getDefaultAutoSelectFamilyAttemptTimeout();
  context.after(() => setDefaultAutoSelectFamilyAttemptTimeout(before));

  settleAttemptTime();

  assert.ok(getDefaultAutoSelectFamilyAttemptTimeout() > satelliteMillis);
});
