import assert from "node:assert/strict";
import { test } from "node:test";
import { UnsetClock } from "../../core/pipeline/unset-clock.js";

test("a clock goes on from where the machine's was set back, and tells when something was by either", () => {
  let machine = 1000;
  const clock = new UnsetClock(() => new Date(machine));

  const before = clock.now();
  machine = 400;
  const set = clock.now();
  machine = 500;

  assert.deepEqual([before, set, clock.now()], [1000, 1000, 1100]);
  assert.deepEqual([clock.of(900), clock.of(450)], [900, 1050]);
  assert.deepEqual([clock.shown(900), clock.shown(1050)], [300, 450]);
});

test("a clock that was set forward and is set right again has lost nothing", () => {
  let machine = 1000;
  const clock = new UnsetClock(
    () => new Date(machine),
    () => 0,
  );

  machine += 3_600_000;
  const ahead = clock.now();
  machine -= 3_600_000;

  assert.deepEqual([ahead, clock.now()], [3_601_000, 1000]);
});

test("a time that the clock of the machine has not shown is no later than now", () => {
  const clock = new UnsetClock(() => new Date(1000));

  assert.equal(clock.of(5000), 1000);
});
