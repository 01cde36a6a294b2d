import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { atBeginning, type LogPosition } from "../../core/log/log-position.js";
import type { LogPart } from "../../core/log/partitioned-log.js";
import { Trimmer } from "../../core/log/trimmer.js";
import { oneEvent, ownPart } from "./own-part.js";

const at = (offset: number): LogPosition => ({ ...atBeginning, offset });

const reported: readonly {
  readonly says: string;
  readonly groups: ReadonlyMap<string, ReadonlyMap<number, LogPosition>>;
  readonly trimmed: readonly (readonly [LogPart, number])[];
}[] = [
  { says: "what is reported to be done", groups: new Map([["g", new Map([[0, at(3)]])]]), trimmed: [[0, 3]] },
  { says: "nothing while nothing is reported", groups: new Map(), trimmed: [] },
  {
    says: "what each group has reported to be done",
    groups: new Map([
      ["g", new Map([[0, at(5)]])],
      ["other", new Map([[0, at(2)]])],
    ]),
    trimmed: [[0, 2]],
  },
];

for (const { says, groups, trimmed } of reported)
  test(`an agent removes ${says}, not what it knows to be done`, async () => {
    const own = ownPart();
    own.queue.add({ from: 0, records: [0, 1, 2, 3, 4, 5].map(oneEvent) });
    own.queue.release(own.queue.take(6));
    const seen: (readonly [LogPart, number])[] = [];
    const log = {
      trim: async (before: ReadonlyMap<LogPart, number>) => {
        seen.push(...before);
      },
    };

    await new Trimmer({ log, group: "g", members: { groups }, own: new Map([[0, own]]), outcome: () => {} }).trim();

    assert.deepEqual(seen, trimmed);
  });

test("a stop does not wait for what an agent still removes", async () => {
  const own = ownPart();
  own.queue.add({ from: 0, records: [0, 1, 2].map(oneEvent) });
  own.queue.release(own.queue.take(3));
  const log = {
    trim: async (_before: ReadonlyMap<LogPart, number>, signal?: AbortSignal) => {
      if (signal !== undefined) await once(signal, "abort");
    },
  };
  const groups = new Map([["g", new Map([[0, at(2)]])]]);
  const trimmer = new Trimmer({ log, group: "g", members: { groups }, own: new Map([[0, own]]), outcome: () => {} });
  const removal = trimmer.trim();

  await trimmer.stop();

  await removal;
});
