import assert from "node:assert/strict";
import { test } from "node:test";
import { KnownPlaces } from "../../core/log/known-places.js";
import { atBeginning, channelName, type LogPosition, positionText } from "../../core/log/log-position.js";
import { letterHeader } from "../../core/sdk/index.js";

const owner = { log: "log", group: "g" };
const letter = (offset: number) => `${channelName(owner, 0)}:${offset}+0-1`;
const doneTo = (offset: number): LogPosition => ({ ...atBeginning, offset, index: 0, events: offset + 1 });

function placesOf(heard?: LogPosition): KnownPlaces {
  const members = { done: () => heard };
  return new KnownPlaces({ owner, members, hasTaken: () => true, own: () => undefined, beginAgain: () => false });
}

test("an event with a dead letter is left out, one of another part or log is not", () => {
  const places = placesOf();

  const known = [letter(5), "other/g/0:6+0-1"].map((id) => places.leaveOut(id));

  const of = places.knownOf(0);
  assert.deepEqual(known, [true, false]);
  assert.deepEqual(
    [5, 6].map((offset) => of.hasLetter?.({ offset, index: 0 })),
    [true, false],
  );
  assert.equal(places.knownOf(1).hasLetter?.({ offset: 5, index: 0 }), false);
});

test("of many dead letters those are kept whose events are not done yet", () => {
  const places = placesOf(doneTo(899));
  places.skipTo(positionText(owner, 0, doneTo(500)));

  for (let offset = 0; offset <= 1000; offset += 1) places.leaveOut(letter(offset));

  const of = places.knownOf(0);
  const all = Array.from({ length: 1001 }, (_, offset) => offset);
  const kept = all.filter((offset) => of.hasLetter?.({ offset, index: 0 }));
  assert.deepEqual([kept.length, kept[0], kept.at(-1)], [101, 900, 1000]);
});

test("a replayed dead letter is for others when it is one of another group over the same log", () => {
  const { isOfOthers } = placesOf().knownOf(0);

  const ids = [letter(5), "log/h/0:6+0-1", "other/h/0:6+0-1", "log/g2/0:6+0-1"];
  const told = ids.map((id) => isOfOthers?.({ headers: { [letterHeader]: id }, body: {} }));

  assert.deepEqual([...told, isOfOthers?.({ headers: {}, body: {} })], [false, true, false, true, false]);
});
