import assert from "node:assert/strict";
import { test } from "node:test";
import { boundOf } from "./bounds.js";
import { faultsOf, gainsOf, leastOf } from "./judge.js";

const was = { statements: 4000, "allocated bytes": 1_000_000 };

test("a count above its bound fails with the number, what it was, and where the bound stands", () => {
  assert.deepEqual(faultsOf("a case", { statements: 5000 }, was), [
    'a case: "statements" are 5,000 for 1,000 notifications; they were 4,000, and more than 4,000 is a failure (test/guard/bounds.ts)',
  ]);
});

test("a count that is exact fails with one more, one that varies has its slack", () => {
  const { most } = boundOf("allocated bytes", 1_000_000);

  assert.equal(most > 1_000_000, true);
  assert.equal(faultsOf("a case", { statements: 4001 }, was).length, 1);
  assert.deepEqual(faultsOf("a case", { statements: 4000, "allocated bytes": most }, was), []);
  assert.equal(faultsOf("a case", { "allocated bytes": most + 1 }, was).length, 1);
});

test("a count without a bound fails", () => {
  assert.deepEqual(faultsOf("a case", { commits: 7 }, was), [
    'a case: "commits" has no bound in test/guard/bounds.ts; it is 7',
  ]);
});

test("a count that fell is named, so that its bound can fall too", () => {
  assert.deepEqual(gainsOf({ statements: 3000, "allocated bytes": 999_999 }, was), [
    '"statements" are 3,000, they were 4,000',
  ]);
});

test("a count that is high in one of the runs only is judged by the others", () => {
  const counts = leastOf({ statements: 4013, transactions: 10 }, { statements: 4000, transactions: 11 });

  assert.deepEqual(counts, { statements: 4000, transactions: 10 });
});
