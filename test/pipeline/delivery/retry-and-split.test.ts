import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import type { RetryPolicy } from "../../../core/pipeline/delivery/retry-policy.js";
import { AgentError, type Event, type Sink } from "../../../core/sdk/index.js";
import { chainTo, deliver } from "../../support/delivering.js";
import { recordingLog } from "../../support/recording-log.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { tempFolder } from "../../support/temp-folder.js";

const away = () => new AgentError("AWAY", "storing to the store that is away", { retryable: true });
const poison = () => new AgentError("POISON", "storing a value that never goes in", { retryable: false });
const events = (...names: readonly string[]): Event[] => names.map((name) => ({ headers: { name }, body: name }));
const bodies = (list: readonly Event[]) => list.map(({ body }) => body);

async function setUp(context: TestContext, sink: Sink, retry: Partial<RetryPolicy> = {}) {
  const deadLetters = new DeadLetters(await tempFolder(context));
  const { log, lines } = recordingLog();
  const policy = { batchTtl: 3, batchRetryIntervals: [1], ...retry };
  const { chain, counters } = chainTo({ sink, retry: policy, deadLetters, log });
  const letters = async () => {
    const text = await readFile(deadLetters.fileOf("s1"), "utf8").catch(() => "");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  };
  return { chain, counters, lines, letters };
}

const attempts = [
  { ttl: 3, failures: 99, writes: 4, persisted: 0, dead: 1 },
  { ttl: 0, failures: 99, writes: 1, persisted: 0, dead: 1 },
  { ttl: 3, failures: 1, writes: 2, persisted: 1, dead: 0 },
  { ttl: 10, failures: 3, writes: 4, persisted: 1, dead: 0 },
  { ttl: -1, failures: 25, writes: 26, persisted: 1, dead: 0 },
] as const;

for (const { ttl, failures, writes, persisted, dead } of attempts)
  test(`with batch_ttl ${ttl} a write that fails ${failures} times is tried ${writes} times`, async (context) => {
    const sink = new ScriptedSink((_events, write) => (write <= failures ? away() : undefined));
    const { chain, counters, letters } = await setUp(context, sink, { batchTtl: ttl });

    const settled = await deliver(chain, events("a"));

    assert.equal(settled, true);
    assert.equal(sink.writes.length, writes);
    assert.equal(counters.persisted, persisted);
    assert.equal((await letters()).length, dead);
  });

const positions = [["x", "b", "c", "d"], ["a", "x", "c", "d"], ["a", "b", "c", "x"], ["x"], ["x", "x"]] as const;

for (const names of positions)
  test(`of the events ${names.join(" ")} only x becomes a dead letter, in one try each`, async (context) => {
    const sink = new ScriptedSink((list) => (list.some(({ body }) => body === "x") ? poison() : undefined));
    const { chain, counters, letters } = await setUp(context, sink);

    await deliver(chain, events(...names));

    const good = names.filter((name) => name !== "x");
    assert.deepEqual(bodies(sink.stored), good);
    assert.equal(counters.persisted, good.length);
    const kept = await letters();
    assert.equal(kept.length, names.length - good.length);
    for (const { id, ...letter } of kept) {
      assert.match(id, /^[0-9a-f-]{36}$/);
      assert.deepEqual(letter, {
        time: "2026-01-15T10:20:30.123Z",
        sink: "s1",
        reason: "permanent",
        code: "POISON",
        message: "storing a value that never goes in",
        attempts: 1,
        event: { headers: { name: "x" }, body: "x" },
      });
    }
  });

test("an error that does not say whether it may pass is retried, then the bad event is found", async (context) => {
  const sink = new ScriptedSink((list) => (list.some(({ body }) => body === "x") ? new Error("a bug") : undefined));
  const { chain, counters, letters } = await setUp(context, sink, { batchTtl: 1 });

  await deliver(chain, events("a", "x", "c"));

  assert.deepEqual(bodies(sink.stored), ["a", "c"]);
  assert.equal(counters.deadLettered, 1);
  assert.equal((await letters())[0].reason, "retries-exhausted");
});

test("an unknown error is not retried for ever even when batch_ttl is -1", async (context) => {
  const sink = new ScriptedSink(() => new Error("a bug"));
  const { chain, counters } = await setUp(context, sink, { batchTtl: -1 });

  await deliver(chain, events("a"));

  assert.equal(counters.deadLettered, 1);
});

test("the same failure again and again is one warning, and its end one line", async (context) => {
  const sink = new ScriptedSink((_events, write) => (write <= 3 ? away() : undefined));
  const { chain, lines } = await setUp(context, sink);

  await deliver(chain, events("a"));

  assert.deepEqual(
    lines.filter(({ level }) => level !== "debug").map(({ level, message }) => `${level} ${message}`),
    ["warn batch not stored, will be retried", "info storing again"],
  );
});

test("a wait for the next try ends at once when the signal aborts, and the events are not settled", async (context) => {
  const ending = new AbortController();
  const sink = new ScriptedSink(() => {
    setImmediate(() => ending.abort());
    return away();
  });
  const { chain, letters } = await setUp(context, sink, { batchTtl: -1, batchRetryIntervals: [3_600_000] });

  const settled = await deliver(chain, events("a"), { signal: ending.signal });

  assert.equal(settled, false);
  assert.deepEqual(await letters(), []);
});

test("a wait that the store asks for is kept when it is longer than the interval", async (context) => {
  const asked = new AgentError("BUSY", "storing to the store that is busy", { retryable: true, retryAfter: 30 });
  const sink = new ScriptedSink((_, write) => (write === 1 ? asked : write === 2 ? away() : undefined));
  const { chain, lines } = await setUp(context, sink);

  await deliver(chain, events("a"));

  const waits = lines.map(({ fields }) => Reflect.get(fields, "retryInMilliseconds"));
  assert.deepEqual(waits, [30, 1, undefined]);
  assert.deepEqual(bodies(sink.stored), ["a"]);
});
