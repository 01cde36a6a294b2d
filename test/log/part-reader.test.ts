import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { atBeginning } from "../../core/log/log-position.js";
import type { OwnPart } from "../../core/log/own-parts.js";
import { packed, packedRecord } from "../../core/log/packed-record.js";
import { PartQueue } from "../../core/log/part-queue.js";
import { PartReader } from "../../core/log/part-reader.js";
import type { LogPart, LogRecord } from "../../core/log/partitioned-log.js";
import { textCodecs } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";

const head = { at: 0, writer: "w", before: 0 };
const event = { event: { headers: {}, body: { id: "e1" } }, origin: undefined };

test("a read leaves out what this agent has appended without decoding it, and goes on behind it", async () => {
  const own: OwnPart = { queue: new PartQueue(0, atBeginning, 0), holders: 0, leaving: false, end: 0 };
  const asked: (number | undefined)[] = [];
  const added: number[] = [];
  let unreadable = 0;
  const second = new AbortController();
  const reader = new PartReader({
    log: {
      read: async (from: ReadonlyMap<LogPart, number>, _limits, signal): Promise<ReadonlyMap<LogPart, LogRecord[]>> => {
        asked.push(from.get(0));
        if (asked.length > 1) {
          second.abort();
          return await new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Map())));
        }
        own.queue.add([{ ...head, offset: 0, bytes: 10, events: [event] }]);
        return new Map([[0, [{ offset: 0, value: Buffer.from("no record of an agent") }]]]);
      },
    },
    own: new Map([[0, own]]),
    prefetchBytes: 65_536,
    add: (part) => added.push(part),
    codecs: textCodecs(),
    isAlone: () => false,
    unreadable: () => {
      unreadable += 1;
    },
    outcome: () => {},
    logger: recordingLog().log,
  });

  const readAgain = once(second.signal, "abort");
  reader.start();
  await readAgain;
  await reader.stop();

  assert.deepEqual(asked, [0, 1]);
  assert.deepEqual(added, []);
  assert.equal(unreadable, 0);
});

for (const { name, bytes, end, reads } of [
  { name: "reads that find little begin some milliseconds apart", bytes: 10, end: 0, reads: [2, 3, 4] },
  { name: "a read that finds much is followed by the next one at once", bytes: 70_000, end: 0, reads: [20, 20, 20] },
  {
    name: "reads of what was there at the beginning follow one another at once",
    bytes: 10,
    end: 100,
    reads: [20, 20, 20],
  },
])
  test(name, async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const own: OwnPart = { queue: new PartQueue(0, atBeginning, 0), holders: 0, leaving: false, end };
    const text = "x".repeat(bytes);
    let asked = 0;
    const reader = new PartReader({
      log: {
        read: async (
          from: ReadonlyMap<LogPart, number>,
          _limits,
          signal,
        ): Promise<ReadonlyMap<LogPart, LogRecord[]>> => {
          asked += 1;
          if (asked >= 20)
            return await new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Map())));
          const offset = from.get(0) ?? 0;
          const record = packedRecord([packed({ headers: {}, body: { text } }, textCodecs())], {
            ...head,
            writer: `w${offset}`,
          });
          return new Map([[0, [{ offset, value: record }]]]);
        },
      },
      own: new Map([[0, own]]),
      prefetchBytes: 100_000_000,
      add: (_part, records) => own.queue.add(records),
      codecs: textCodecs(),
      isAlone: () => false,
      unreadable: () => {},
      outcome: () => {},
      logger: recordingLog().log,
    });
    const turns = async () => {
      for (let turn = 0; turn < 200; turn += 1) await nextTurn();
      return asked;
    };

    reader.start();
    const counts = [await turns()];
    for (let step = 0; step < 2; step += 1) {
      context.mock.timers.tick(10);
      counts.push(await turns());
    }
    await reader.stop();

    assert.deepEqual(counts, reads);
  });
