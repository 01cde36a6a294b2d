import assert from "node:assert/strict";
import { test } from "node:test";
import type { Period } from "../../core/sql/contract/partitions.js";
import { openPart, rangesOf } from "../../core/sql/tables/periods.js";

const cases: readonly (readonly [time: string, period: Period, from: string | undefined, to: string | undefined])[] = [
  ["2026-12-31T23:59:59.999Z", "day", "2026-12-31", "2027-01-01"],
  ["2027-01-01 00:00:00.000", "day", "2027-01-01", "2027-01-02"],
  ["2028-02-29T12:00:00.000Z", "day", "2028-02-29", "2028-03-01"],
  ["2026-12-31T23:59:59.999Z", "week", "2026-12-28", "2027-01-04"],
  ["2027-01-03T23:59:59.999Z", "week", "2026-12-28", "2027-01-04"],
  ["2027-01-04T00:00:00.000Z", "week", "2027-01-04", "2027-01-11"],
  ["2000-01-01T00:00:00.000Z", "week", "2000-01-01", "2000-01-03"],
  ["2099-12-31T23:59:59.999Z", "week", "2099-12-28", "2100-01-01"],
  ["2026-12-31T23:59:59.999Z", "month", "2026-12-01", "2027-01-01"],
  ["2027-01-01T00:00:00.000Z", "month", "2027-01-01", "2027-02-01"],
  ["2026-12-31T23:59:59.999Z", "year", "2026-01-01", "2027-01-01"],
];

for (const [time, period, from, to] of cases)
  test(`the ${period} of ${time} is from ${from} to ${to}`, () =>
    assert.deepEqual(rangesOf(time, period), [{ from, to }]));

for (const time of [
  "1999-12-31T23:59:59.999Z",
  "2100-01-01T00:00:00.000Z",
  "+010000-01-01T00:00:00.000Z",
  "",
  "2026-99-99",
])
  test(`"${time}" is a time that no clock is meant to show`, () =>
    assert.deepEqual(rangesOf(time, "day"), [
      { from: undefined, to: "2000-01-01" },
      { from: "2100-01-01", to: undefined },
    ]));

test("of a month in which some days have partitions, only the part between them is open", () => {
  const taken = [
    { from: "2026-05-03", to: "2026-05-04" },
    { from: "2026-05-20", to: "2026-05-21" },
  ];

  assert.deepEqual(openPart({ from: "2026-05-01", to: "2026-06-01" }, taken, "2026-05-10"), {
    from: "2026-05-04",
    to: "2026-05-20",
  });
});
