import assert from "node:assert/strict";
import { test } from "node:test";
import { CumulativeRelease, WaitingTakes } from "../../core/sdk/channel/index.js";

test("a take whose signal has aborted settles at once and does not wait in the way of others", async () => {
  const takes = new WaitingTakes();

  const taken = await takes.wait(5, AbortSignal.abort());

  assert.deepEqual(taken, []);
  assert.equal(takes.first, undefined);
});

const steps = [
  { says: "in order", taken: [3, 4, 9], released: [[3], [4, 9]], upTo: [3, 9], held: 0 },
  {
    says: "the other way round",
    taken: [3, 4, 9],
    released: [[9], [4], [3]],
    upTo: [undefined, undefined, 9],
    held: 0,
  },
  { says: "with one that stays", taken: [3, 4, 9], released: [[3], [9]], upTo: [3, 3], held: 2 },
  { says: "twice", taken: [3, 4], released: [[3], [3], [4]], upTo: [3, 3, 4], held: 0 },
  { says: "that were never taken", taken: [3], released: [[1], [7], [3]], upTo: [undefined, undefined, 3], held: 0 },
] as const;

for (const { says, taken, released, upTo, held } of steps)
  test(`events that are released ${says} move the place up to which all are`, () => {
    const release = new CumulativeRelease();
    release.take(taken);
    release.take(taken);

    const places = released.map((sequences) => {
      const before = release.upTo;
      const moved = release.release(sequences);
      assert.equal(moved, release.upTo !== before);
      return release.upTo;
    });

    assert.deepEqual(places, upTo);
    assert.equal(release.held, held);
  });
