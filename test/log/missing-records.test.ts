import assert from "node:assert/strict";
import { test } from "node:test";
import { atBeginning } from "../../core/log/log-position.js";
import { MissingRecords } from "../../core/log/missing-records.js";
import { PartQueue } from "../../core/log/part-queue.js";
import { recordingLog } from "../support/recording-log.js";
import { oneEvent, ownPart } from "./own-part.js";

const nothingSeen = { seenBefore: () => -1, isReplaced: () => false, isStoredKnown: true };

test("records are missing once they are so for a session, and are told once", () => {
  const { log, lines } = recordingLog();
  const missing = new MissingRecords(1000, log, nothingSeen);
  const own = ownPart(3);
  own.queue.add({ from: 0, records: [oneEvent(0), oneEvent(4)] });
  const parts = new Map([[3, own]]);

  const lost = [0, 999, 1000, 5000].map((now) => {
    missing.look(parts, now);
    return missing.lost;
  });
  own.queue.add({ from: 5, records: [oneEvent(6)] });
  missing.look(parts, 5001);

  assert.deepEqual([...lost, missing.lost], [0, 0, 3, 3, 4]);
  assert.deepEqual(
    lines.map(({ level, fields }) => [level, fields]),
    [
      ["error", { partition: 3, lost: 3 }],
      ["error", { partition: 3, lost: 1 }],
    ],
  );
});

test("what is missing only until the part is given away does not count", () => {
  const { log, lines } = recordingLog();
  const missing = new MissingRecords(1000, log, nothingSeen);
  const own = ownPart();
  own.queue.add({ from: 0, records: [oneEvent(0), oneEvent(4)] });

  missing.look(new Map([[0, own]]), 0);
  missing.look(new Map([[0, ownPart()]]), 2000);

  assert.deepEqual([missing.lost, lines], [0, []]);
});

test("a position that comes after records were told to be missing does not make them less", () => {
  const { log, lines } = recordingLog();
  const missing = new MissingRecords(1000, log, nothingSeen);
  const own = ownPart();
  own.queue.skip(9);
  const parts = new Map([[0, own]]);
  own.queue.skipTo({ ...atBeginning, offset: 2, index: 0, events: 3 });
  missing.look(parts, 0);
  missing.look(parts, 1000);

  own.queue.skipTo({ ...atBeginning, offset: 5, index: 0, events: 6 });
  missing.look(parts, 2000);

  assert.deepEqual([missing.lost, own.queue.lost, lines.length], [6, 3, 1]);
});

test("where the last stored record is gone, too, what is counted is not all, and the log says both", () => {
  const { log, lines } = recordingLog();
  const missing = new MissingRecords(1000, log, nothingSeen);
  const queue = new PartQueue(0, { ...atBeginning, offset: 3, index: 0, events: 1 }, 0);
  const parts = new Map([[0, { queue, holders: 0, leaving: false, end: 0 }]]);
  queue.add({ from: 3, records: [{ ...oneEvent(9), follows: 7 }] });

  for (const now of [0, 1000, 2000]) missing.look(parts, now);

  assert.deepEqual([missing.lost, missing.uncounted], [1, [0]]);
  assert.deepEqual(
    lines.map(({ fields }) => fields),
    [{ partition: 0 }, { partition: 0, lost: 1 }],
  );
});

interface Jumping {
  readonly says: string;
  /** Up to where it is done when it is begun with; nothing when absent. */
  readonly from?: number;
  /** A position that becomes known later. */
  readonly stored?: number;
  /** Where it begins when there are no records. */
  readonly first?: number;
  readonly records?: readonly number[];
  readonly isTold: boolean;
}

const jumping: readonly Jumping[] = [
  { says: "that begins with the last stored record", from: 3, records: [3, 7], isTold: false },
  { says: "that begins behind it", from: 3, records: [5, 7], isTold: true },
  { says: "that is empty and ends behind it", from: 3, first: 9, isTold: true },
  {
    says: "that begins behind it, and of which more turns out to be stored",
    from: 3,
    records: [5, 7],
    stored: 5,
    isTold: false,
  },
  { says: "of which nothing is stored", records: [5, 7], isTold: false },
  {
    says: "whose stored position becomes known when records were read that stand behind it",
    records: [5, 7],
    stored: 3,
    isTold: true,
  },
];
for (const { says, from, stored, first = 0, records = [], isTold } of jumping)
  test(`where offsets jump, ${isTold ? "an error is logged once" : "nothing is said"} of a part ${says}`, () => {
    const { log, lines } = recordingLog();
    const missing = new MissingRecords(1000, log, nothingSeen);
    const done = (offset: number) => ({ ...atBeginning, offset, index: 0, events: 1 });
    const queue = new PartQueue(0, from === undefined ? atBeginning : done(from), 0);
    const parts = new Map([[0, { queue, holders: 0, leaving: false, end: 0 }]]);
    queue.skip(first);
    queue.add({ from: queue.next, records: records.map(oneEvent) });

    missing.look(parts, 0);
    if (stored !== undefined) queue.skipTo(done(stored));
    for (const now of [999, 1000, 2000, 5000]) missing.look(parts, now);

    assert.deepEqual(
      lines.map(({ level, fields }) => [level, fields]),
      isTold ? [["error", { partition: 0 }]] : [],
    );
    assert.equal(missing.lost, 0);
  });

interface Seen {
  readonly says: string;
  readonly seen: number;
  /** Up to where it is done when it is begun with; nothing when absent. */
  readonly from?: number;
  /** A position that becomes known later. */
  readonly stored?: number;
  /** Where it ends when it is begun with. */
  readonly end: number;
  /** Where it begins when there are no records. */
  readonly first?: number;
  readonly records: readonly number[];
  readonly isStoredKnown?: boolean;
  readonly told?: string;
}

const ends = "the log ends before records that this agent had seen in a partition";
const gone = "records that this agent had seen in a partition are gone, and nothing of it is known to be stored";
const seenParts: readonly Seen[] = [
  { says: "as long as it was", seen: 2, end: 3, records: [0, 1, 2] },
  { says: "that is longer", seen: 2, end: 9, records: [] },
  { says: "of which stored records were removed, all but the last", seen: 2, from: 2, end: 3, records: [2] },
  { says: "that ends before", seen: 2, end: 2, records: [0, 1], told: ends },
  { says: "that is empty and ends before", seen: 2, end: 0, records: [], told: ends },
  { says: "that was behind and is as long again", seen: 2, end: 2, records: [0, 1, 2] },
  { says: "that begins behind, while nothing is stored", seen: 2, end: 9, records: [5, 6], told: gone },
  {
    says: "that is empty and ends behind, while nothing is stored",
    seen: 2,
    end: 9,
    first: 9,
    records: [],
    told: gone,
  },
  {
    says: "that begins behind, before it is known what is stored",
    seen: 2,
    end: 9,
    records: [5],
    isStoredKnown: false,
  },
  { says: "that begins behind, and of which more turns out to be stored", seen: 2, stored: 5, end: 9, records: [5, 6] },
];
for (const isGapless of [true, false])
  for (const { says, seen, from, stored, end, first = 0, records, isStoredKnown = true, told } of seenParts)
    test(`in a log ${isGapless ? "without" : "with"} gaps, of a part ${says} ${told === undefined ? "nothing is said" : "an error is logged once"}`, () => {
      const { log, lines } = recordingLog();
      const missing = new MissingRecords(1000, log, { ...nothingSeen, seenBefore: () => seen, isStoredKnown });
      const done = (offset: number) => ({ ...atBeginning, offset, index: 0, events: 1 });
      const queue = new PartQueue(0, from === undefined ? atBeginning : done(from), 0, isGapless);
      const parts = new Map([[0, { queue, holders: 0, leaving: false, end }]]);
      queue.skip(isGapless && first === 0 ? (records[0] ?? 0) : first);
      queue.add({ from: queue.next, records: records.map(oneEvent) });

      missing.look(parts, 0);
      if (stored !== undefined) queue.skipTo(done(stored));
      for (const now of [999, 1000, 2000]) missing.look(parts, now);

      assert.deepEqual(
        lines.map(({ level, fields, message }) => [level, fields, message.split(":", 1)[0]]),
        told === undefined ? [] : [["error", { partition: 0 }, told]],
      );
    });
