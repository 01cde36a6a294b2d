import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { test } from "node:test";
import { onAbort } from "../../core/sdk/index.js";

test("the listener is called once, when the signal aborts", () => {
  const ending = new AbortController();
  let calls = 0;

  onAbort(ending.signal, () => {
    calls += 1;
  });
  assert.equal(calls, 0);
  ending.abort();

  assert.equal(calls, 1);
});

test("the listener is called at once when the signal has aborted", () => {
  let calls = 0;

  onAbort(AbortSignal.abort(), () => {
    calls += 1;
  });

  assert.equal(calls, 1);
});

test("a listener that is removed is not called, and the signal does not keep it", () => {
  const ending = new AbortController();
  let calls = 0;
  const listener = () => {
    calls += 1;
  };

  const removes = [onAbort(ending.signal, listener), onAbort(ending.signal, listener)];
  removes[0]?.();
  assert.equal(getEventListeners(ending.signal, "abort").length, 1);
  ending.abort();

  assert.equal(calls, 1);
});
