import assert from "node:assert/strict";
import { test } from "node:test";
import { RetentionClock } from "../../core/sql/features/retention/retention-clock.js";
import { recordingLog } from "../support/recording-log.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const start = Date.parse("2026-11-27T12:00:00Z");

/** A clock at whose looks, one after another, that time has passed and the clock of the machine was set by that much. */
function looks(...steps: readonly { readonly passed: number; readonly set?: number }[]) {
  const { log, lines } = recordingLog();
  let wall = start;
  let uptime = 1000;
  const clock = new RetentionClock({ context: { now: () => new Date(wall) }, log, uptime: () => uptime });
  const times = steps.map(({ passed, set = 0 }) => {
    wall += passed + set;
    uptime += passed;
    return clock.now() - start;
  });
  return { times, warnings: lines.length };
}

test("a clock that runs is believed, also when it is corrected by less than an hour, or set back", () => {
  const { times, warnings } = looks({ passed: HOUR }, { passed: HOUR, set: HOUR / 2 }, { passed: HOUR, set: -DAY });

  assert.deepEqual(times, [HOUR, 2.5 * HOUR, 3.5 * HOUR - DAY]);
  assert.equal(warnings, 0);
});

test("a clock that was set forward is believed after a day of uptime, with one warning", () => {
  const { times, warnings } = looks({ passed: HOUR, set: 10 * DAY }, { passed: DAY - 1 }, { passed: 1 });

  assert.deepEqual(times, [HOUR, HOUR + DAY - 1, HOUR + 11 * DAY]);
  assert.equal(warnings, 1);
});

test("a clock that is set forward once more, or was set right meanwhile, begins another day", () => {
  const more = looks({ passed: 0, set: 2 * HOUR }, { passed: DAY - 1 }, { passed: 1, set: 10 * DAY });
  const right = looks({ passed: 0, set: DAY }, { passed: DAY - 1, set: -DAY }, { passed: 1, set: DAY });

  assert.deepEqual(more, { times: [0, DAY - 1, DAY], warnings: 2 });
  assert.deepEqual(right, { times: [0, DAY - 1, DAY], warnings: 2 });
});
