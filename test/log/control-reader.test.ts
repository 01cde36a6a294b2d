import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ControlReader } from "../../core/log/control-reader.js";
import type { LogPart, LogRecord } from "../../core/log/partitioned-log.js";
import { onAbort } from "../../core/sdk/index.js";
import { until } from "../support/until.js";

const records = [0, 1, 2, 3].map((offset): LogRecord => ({ offset, value: Buffer.from(`${offset}`) }));

test("who listens to a part anew during a read gets its records from where it begins, without a gap", async () => {
  const heard: number[] = [];
  const asked: (number | undefined)[] = [];
  const note = (found: readonly LogRecord[]) => void heard.push(...found.map(({ offset }) => offset));
  const reader: ControlReader = new ControlReader({
    log: {
      read: async (from: ReadonlyMap<LogPart, number>, _limits, signal) => {
        const begin = from.get("letters") ?? 0;
        asked.push(begin);
        await nextTurn();
        if (asked.length === 1) reader.listen("letters", 0, { next: note });
        const found = records.filter(({ offset }) => offset >= begin);
        if (found.length === 0) await new Promise<void>((resolve) => onAbort(signal, resolve));
        return new Map([["letters", found]] as const);
      },
    },
    outcome: (error) => assert.equal(error, undefined),
  });

  reader.listen("letters", 2, { next: () => assert.fail("it listens no more") });
  await until(
    async () => asked.length,
    (count) => count === 3,
  );
  await reader.stop();

  assert.deepEqual(asked, [2, 0, 4]);
  assert.deepEqual(heard, [0, 1, 2, 3]);
});
