import assert from "node:assert/strict";
import { test } from "node:test";
import { readChoice } from "../../core/pipeline/dead-letters/choice.js";
import { givenTime } from "../../core/pipeline/given-time.js";

process.env["TZ"] = "Asia/Kolkata";

const times = {
  "2026-03-29": "2026-03-29T00:00:00.000Z",
  "2026-03-29 02:30": "2026-03-29T02:30:00.000Z",
  "2026-03-29T02:30:00.918": "2026-03-29T02:30:00.918Z",
  "2026-03-29T02:30:00.918273645Z": "2026-03-29T02:30:00.918Z",
  "2024-02-29T23:59:59+05:30": "2024-02-29T18:29:59.000Z",
  "0001-01-01T00:00:00Z": "0001-01-01T00:00:00.000Z",
} as const;

for (const [text, expected] of Object.entries(times))
  test(`"${text}" means the same time in every zone`, () => assert.equal(givenTime(text).toISOString(), expected));

for (const text of [
  "",
  "1",
  "soon",
  "2026-02-29",
  "2026-02-30T00:00:00Z",
  "31/01/2026",
  "03/04/2026",
  "2026-01-31T25:00Z",
])
  test(`"${text}" is no time`, () => assert.ok(Number.isNaN(givenTime(text).getTime())));

test("dead letters are chosen by times in UTC, and by none that does not exist", () => {
  assert.deepEqual(readChoice({ until: "2026-03-29 02:30:00" }), {
    ...emptyChoice,
    until: new Date("2026-03-29T02:30:00Z"),
  });
  assert.match(String(readChoice({ until: "2026-02-30T00:00:00Z" })), /until "2026-02-30T00:00:00Z" is no time/);
});

const emptyChoice = {
  sink: undefined,
  service: undefined,
  entity: undefined,
  type: undefined,
  reason: undefined,
  code: undefined,
  text: undefined,
  since: undefined,
};
