import assert from "node:assert/strict";
import { test } from "node:test";
import { KnownPlaces } from "../../core/log/known-places.js";
import { atBeginning, channelName, type LogPosition, positionText } from "../../core/log/log-position.js";

const owner = { log: "log", group: "g" };
const letter = (offset: number) => `${channelName(owner, 0)}:${offset}+0-1`;
const doneTo = (offset: number): LogPosition => ({ ...atBeginning, offset, index: 0, events: offset + 1 });

function placesOf(heard?: LogPosition): KnownPlaces {
  return new KnownPlaces({ owner, members: { done: () => heard }, own: () => undefined, again: () => false });
}

test("an event with a dead letter is left out, one of another part or log is not", () => {
  const places = placesOf();

  const known = [letter(5), "other/g/0:6+0-1"].map((id) => places.leaveOut(id));

  const leftOut = places.leftOut(0);
  assert.deepEqual(known, [true, false]);
  assert.deepEqual(
    [5, 6].map((offset) => leftOut?.({ offset, index: 0 })),
    [true, false],
  );
  assert.equal(places.leftOut(1), undefined);
});

test("of many dead letters those are kept whose events are not done yet", () => {
  const places = placesOf(doneTo(899));
  places.skipTo(positionText(owner, 0, doneTo(500)));

  for (let offset = 0; offset <= 1000; offset += 1) places.leaveOut(letter(offset));

  const leftOut = places.leftOut(0);
  const kept = Array.from({ length: 1001 }, (_, offset) => offset).filter((offset) => leftOut?.({ offset, index: 0 }));
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [101, 900, 1000]);
});
