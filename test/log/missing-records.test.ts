import assert from "node:assert/strict";
import { test } from "node:test";
import { atBeginning } from "../../core/log/log-position.js";
import { MissingRecords } from "../../core/log/missing-records.js";
import { recordingLog } from "../support/recording-log.js";
import { oneEvent, ownPart } from "./own-part.js";

test("records are missing once they are so for a session, and are told once", () => {
  const { log, lines } = recordingLog();
  const missing = new MissingRecords(1000, log);
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
  const missing = new MissingRecords(1000, log);
  const own = ownPart();
  own.queue.add({ from: 0, records: [oneEvent(0), oneEvent(4)] });

  missing.look(new Map([[0, own]]), 0);
  missing.look(new Map([[0, ownPart()]]), 2000);

  assert.deepEqual([missing.lost, lines], [0, []]);
});

test("a position that comes after records were told to be missing does not make them less", () => {
  const { log, lines } = recordingLog();
  const missing = new MissingRecords(1000, log);
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
