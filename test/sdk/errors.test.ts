import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentError, retryableOf } from "../../core/sdk/index.js";

for (const retryable of [true, false])
  test(`an error that was made with retryable: ${retryable} says so`, () =>
    assert.equal(retryableOf(new AgentError("STORE_GONE", "writing", { retryable })), retryable));

test("an error that was made in JavaScript without options does not say whether to retry", () => {
  const error: unknown = Reflect.construct(AgentError, ["STORE_GONE", "writing"]);

  assert.ok(error instanceof AgentError);
  assert.equal(error.code, "STORE_GONE");
  assert.equal(retryableOf(error), undefined);
});
