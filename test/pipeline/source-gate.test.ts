import assert from "node:assert/strict";
import { test } from "node:test";
import { SourceGate } from "../../core/pipeline/source-gate.js";
import { atOnce } from "../../core/sdk/at-once.js";
import { AgentError, codeOf } from "../../core/sdk/index.js";

const gate = (mostWaiting?: number) => new SourceGate('"s" of type "wild"', mostWaiting);
const full = new AgentError("CHANNEL_FULL", "the channel is full", { retryable: true });

/** What a source repeats at once, whatever becomes of it. */
const calls = {
  "an emit that is taken": () => gate().emit(() => atOnce),
  "an emit that is refused": () => gate().emit(() => Promise.reject(full)),
};

/** Of a loop that would never end otherwise. */
const MOST = 10_000;

for (const [call, made] of Object.entries(calls))
  test(`a source that repeats ${call} lets others have their turn`, async () => {
    const repeated = made();
    let hasTurn = false;
    setImmediate(() => {
      hasTurn = true;
    });

    for (let times = 0; !hasTurn && times < MOST; times += 1)
      await Promise.resolve(repeated([])).catch(() => undefined);

    assert.equal(hasTurn, true);
  });

test("a loop that emits and awaits nothing ends with an error that names the source, and later emits are taken", async () => {
  const settles: (() => void)[] = [];
  const emit = gate(3).emit(() => new Promise((resolve) => settles.push(resolve)));
  const emitting: Promise<void>[] = [];

  const endless = () => {
    for (;;) emitting.push(emit([]));
  };

  assert.throws(endless, (error: Error) => {
    assert.equal(codeOf(error), "SOURCE_OVERRUN");
    assert.match(error.message, /^3 emits of source "s" of type "wild" wait already; .* await each emit/);
    return true;
  });
  for (const settle of settles.splice(0)) settle();
  await Promise.all(emitting);
  const next = emit([]);
  settles[0]?.();
  await next;
});
