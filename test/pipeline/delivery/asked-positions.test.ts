import assert from "node:assert/strict";
import { test } from "node:test";
import { AskedPositions } from "../../../core/pipeline/delivery/asked-positions.js";
import { recordingLog } from "../../support/recording-log.js";

const cases = [
  { what: "events wait", size: 1, warned: [["spare"]] },
  { what: "no event waits, that could be stored already", size: 0, warned: [] },
] as const;

for (const { what, size, warned } of cases)
  test(`a sink that cannot tell its positions is warned of [${warned}] when ${what}`, async () => {
    const { log, lines } = recordingLog();
    const main = { name: "main", sink: { storedPositions: async () => ["1"] } };
    const spare = { name: "spare", sink: { storedPositions: hanging } };
    const timeLimit = { milliseconds: 1, channel: { size } };
    const retry = { batchTtl: -1, batchRetryIntervals: [1] };
    const asked = new AskedPositions({ keepers: [main, spare], timeLimit, retry, log });

    const told = await asked.told(AbortSignal.timeout(10_000));

    assert.deepEqual([...told], [[main, ["1"]]]);
    assert.deepEqual(
      lines.map(({ fields }) => Reflect.get(fields, "sinks")),
      warned,
    );
  });

/** A store that answers only an abort. */
function hanging(signal: AbortSignal): Promise<readonly string[]> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
