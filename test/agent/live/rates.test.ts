import assert from "node:assert/strict";
import { test } from "node:test";
import { Filling, Rates } from "../../../core/agent/live/rates.js";

test("a rate is what was counted since the look before, and the first look has none", () => {
  const rates = new Rates();
  const thing = {};

  const looks = [
    rates.of(thing, { in: 10 }, 0),
    rates.of(thing, { in: 15 }, 500),
    rates.of(thing, { in: 15 }, 1500),
    rates.of(thing, { in: 1015.25 }, 4500),
  ];

  assert.deepEqual(looks, [{}, { in_per_second: 10 }, { in_per_second: 0 }, { in_per_second: 333 }]);
});

test("a count that was set to zero gives the rate of what was counted since", () => {
  const rates = new Rates();
  const thing = {};
  rates.of(thing, { in: 1000 }, 0);

  assert.deepEqual(rates.of(thing, { in: 4 }, 2000), { in_per_second: 2 });
});

test("a channel that fills evenly is said to be full when it will be", () => {
  const filling = new Filling();
  const channel = {};
  let seconds: number | undefined;

  for (let at = 0; at <= 100; at += 1)
    seconds = filling.secondsUntilFull(channel, { size: 10 * at, capacity: 2000 }, at * 1000);

  assert.equal(seconds, 100);
});

const notFilling = [
  { what: "drains", size: (at: number) => 1000 - at },
  { what: "stays as it is", size: () => 500 },
  { what: "was looked at once", size: () => 500, looks: 1 },
  { what: "fills so slowly that it takes months", size: (at: number) => (at === 50 ? 501 : 500), capacity: 10 ** 9 },
];

for (const { what, size, looks = 50, capacity = 2000 } of notFilling)
  test(`a channel that ${what} is not said to become full`, () => {
    const filling = new Filling();
    const channel = {};
    let seconds: number | undefined = 0;

    for (let at = 1; at <= looks; at += 1)
      seconds = filling.secondsUntilFull(channel, { size: size(at), capacity }, at * 1000);

    assert.equal(seconds, undefined);
  });

test("a full channel is full now", () => {
  assert.equal(new Filling().secondsUntilFull({}, { size: 10, capacity: 10 }, 0), 0);
});
