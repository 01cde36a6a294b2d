import assert from "node:assert/strict";
import { test } from "node:test";
import { BodyBudget, bytesInFlight } from "../../../plugins/http-source/body-budget.js";

const MIB = 1_048_576;
const limits = { max_bytes_in_flight: 100 * MIB, max_body_size: 10 * MIB };

/** Grants pieces of a body until it has this many bytes; resolves to what was granted, 0 when there was no room. */
function grantBody(budget: BodyBudget, bytes: number, piece = 65_536): number {
  let granted = 0;
  for (let left = bytes; left > 0; left -= piece) {
    const cost = budget.grant(Math.min(piece, left), granted);
    if (cost === 0) {
      budget.release(granted);
      return 0;
    }
    granted += cost;
  }
  return granted;
}

test("large bodies get three quarters, small ones also what is left", () => {
  const budget = new BodyBudget(limits);

  const large = Array.from({ length: 20 }, () => grantBody(budget, 10 * MIB)).filter((granted) => granted > 0).length;
  const small = Array.from({ length: 200 }, () => grantBody(budget, 200_000)).filter((granted) => granted > 0).length;

  assert.equal(large, 7);
  assert.ok(small > 100 && small < 200, `${small} small ones`);
  assert.ok(budget.used <= limits.max_bytes_in_flight);
});

test("what is released has room again", () => {
  const budget = new BodyBudget(limits);
  const granted = Array.from({ length: 7 }, () => grantBody(budget, 10 * MIB));

  assert.equal(grantBody(budget, 10 * MIB), 0);
  for (const one of granted) budget.release(one);

  assert.equal(budget.used, 0);
  assert.notEqual(grantBody(budget, 10 * MIB), 0);
});

test("a body of the largest size has room when it is alone, however small the budget is", () => {
  const budget = new BodyBudget({ max_bytes_in_flight: 1, max_body_size: 10 * MIB });

  assert.notEqual(grantBody(budget, 10 * MIB), 0);
  assert.equal(grantBody(budget, 1), 0);
});

test("pieces of one byte cost more than their byte", () => {
  const budget = new BodyBudget(limits);

  assert.equal(grantBody(budget, MIB, 1), 0);
});

const GIB = 1024 * MIB;
const memories = [
  { where: "on a large machine", total: 24 * GIB, constrained: 2 ** 64, heap: 4 * GIB, most: 128 * MIB },
  { where: "in a container of 256 MiB", total: 24 * GIB, constrained: 256 * MIB, heap: 259 * MIB, most: 32 * MIB },
  { where: "on a machine of 512 MiB", total: 512 * MIB, constrained: 0, heap: 259 * MIB, most: 64 * MIB },
  { where: "with a heap of 64 MiB", total: 24 * GIB, constrained: 2 ** 64, heap: 64 * MIB, most: 16 * MIB },
] as const;
for (const { where, most, ...memory } of memories)
  test(`${where} bodies may take ${most / MIB} MiB together`, () => {
    assert.equal(bytesInFlight(memory), most);
  });

test("a budget without a number has the part of the memory", () => {
  const budget = new BodyBudget({ max_bytes_in_flight: -1, max_body_size: 10 * MIB });

  const granted = [grantBody(budget, 9 * MIB), grantBody(budget, 200_000)];

  assert.ok(granted.every((cost) => cost > 0));
});
