import assert from "node:assert/strict";
import { test } from "node:test";
import { takeBatch } from "../../../core/pipeline/delivery/take-batch.js";

const never = new AbortController().signal;
const MANY = 200_000;

test("a batch that waits for more takes all that comes at once, however many events that is", async () => {
  const event = { headers: {}, body: 1 };
  const takes = [[event], Array.from({ length: MANY }, () => event)];
  const transaction = { take: async () => takes.shift() ?? [], commit: async () => {}, rollback: async () => {} };
  const limits = { transactionCapacity: 2 * MANY, batchSize: 2 * MANY, batchTimeout: 1 };

  assert.equal((await takeBatch(transaction, limits, never)).length, MANY + 1);
});
