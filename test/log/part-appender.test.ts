import assert from "node:assert/strict";
import { test } from "node:test";
import { packed } from "../../core/log/packed-record.js";
import { PartAppender } from "../../core/log/part-appender.js";
import { PutDelay } from "../../core/log/put-delay.js";
import { AgentError, codeOf, textCodecs } from "../../core/sdk/index.js";

const cases = [
  { code: "LOG_UNAVAILABLE", what: "a log that does not answer refuses all that waited for it", refused: [1, 2, 3] },
  { code: "RECORD_TOO_LARGE", what: "a record that the log will never take is refused alone", refused: [1] },
] as const;

for (const { code, what, refused } of cases)
  test(`${what}, and what was put since is tried`, async () => {
    const asked: number[] = [];
    const waiting: ((error?: unknown) => void)[] = [];
    const append = (events: readonly { readonly event: { readonly body: unknown } }[]) =>
      new Promise<void>((resolve, reject) => {
        asked.push(...events.map(({ event }) => Number(event.body)));
        waiting.push((error) => (error === undefined ? resolve() : reject(error)));
      });
    // Each event is a record.
    const appender = new PartAppender({ recordBytes: 1, delay: new PutDelay(), append });
    const outcomes = new Map<number, unknown>();
    const put = (body: number) => {
      appender.add([packed({ headers: {}, body }, textCodecs([]))], (error) => outcomes.set(body, codeOf(error)));
    };
    // What was put waits for a turn that brings nothing more.
    const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

    for (const body of [1, 2, 3]) put(body);
    await turn();
    put(4);
    waiting.shift()?.(new AgentError(code, "appending: refused", { retryable: code === "LOG_UNAVAILABLE" }));
    await turn();
    assert.deepEqual(
      [...outcomes],
      refused.map((body) => [body, code]),
    );
    for (let left = 4 - refused.length; left > 0; left -= 1) {
      waiting.shift()?.();
      await turn();
    }
    assert.deepEqual([...outcomes.keys()], [1, 2, 3, 4]);
    assert.equal(outcomes.get(4), undefined);
    assert.deepEqual(asked, code === "LOG_UNAVAILABLE" ? [1, 4] : [1, 2, 3, 4]);
  });
