import assert from "node:assert/strict";
import { test } from "node:test";
import type { HealthReport } from "../../../core/sdk/index.js";
import { type FoundTopics, isOther } from "../../../plugins/kafka/source/found-topics.js";
import { type Sight, Standstills } from "../../../plugins/kafka/source/standstills.js";
import { recordingLog } from "../../support/recording-log.js";

const place = { topic: "t", partition: 0 };
const held = (offset: number): Sight => ({ ...place, cause: "open-transaction", offset });
const leaderless: Sight = { ...place, cause: "no-leader" };

const HELD = "a transaction that was not ended holds back a partition; it is read on when it is committed or aborted";
const LEADERLESS = "partitions without a leader are not read; the others are";
const AGAIN = "partitions are read again";

const cases: readonly {
  readonly what: string;
  readonly sights: readonly Sight[];
  readonly lines: readonly string[];
  readonly state: HealthReport["state"];
}[] = [
  {
    what: "a transaction that goes on is reported once",
    sights: [held(5), held(5), undefined, held(5)],
    lines: [HELD],
    state: "degraded",
  },
  {
    what: "a transaction behind another one is reported for itself",
    sights: [held(5), held(9)],
    lines: [HELD, HELD],
    state: "degraded",
  },
  {
    what: "a partition that is read again is reported as such",
    sights: [held(5), "moving", "moving"],
    lines: [HELD, AGAIN],
    state: "up",
  },
  {
    what: "a partition that loses its leader while a transaction holds it is not read again",
    sights: [held(5), leaderless, undefined, "moving"],
    lines: [HELD, LEADERLESS, AGAIN],
    state: "up",
  },
  {
    what: "a partition that is without a leader for a moment is not reported",
    sights: [leaderless, "moving"],
    lines: [],
    state: "up",
  },
];

for (const { what, sights, lines: expected, state } of cases)
  test(what, () => {
    const { log, lines } = recordingLog();
    const reports: HealthReport[] = [];
    const report = (health: HealthReport) => void reports.push(health);
    const standstills = new Standstills({ log, gauge: undefined, report, transactionMillis: 0 });
    standstills.report();

    for (const sight of sights) standstills.look([[place, sight]]);

    assert.deepEqual(
      lines.map(({ message }) => message),
      expected,
    );
    assert.equal(reports.at(-1)?.state, state);
  });

test("a partition that another source reads now is forgotten without a line", () => {
  const { log, lines } = recordingLog();
  const reports: HealthReport[] = [];
  const report = (health: HealthReport) => void reports.push(health);
  const standstills = new Standstills({ log, gauge: undefined, report, transactionMillis: 0 });
  standstills.look([[place, held(5)]]);

  standstills.look([]);

  assert.deepEqual(
    lines.map(({ message }) => message),
    [HELD],
  );
  assert.deepEqual(reports.at(-1), { state: "up" });
});

test("a topic that the user may not read is reported once, and so is that it may be read again", () => {
  const { log, lines } = recordingLog();
  const reports: HealthReport[] = [];
  const report = (health: HealthReport) => void reports.push(health);
  const standstills = new Standstills({ log, gauge: undefined, report, transactionMillis: 0 });

  for (const denied of [["a", "b"], ["a", "b"], ["b"]]) {
    standstills.deny(new Map(denied.map((topic) => [topic, `denied ${topic}`])));
    standstills.look([[place, held(5)]]);
    standstills.report();
  }

  const left = "a topic that the user may not read is left out; the others are read";
  assert.deepEqual(
    lines.map(({ message }) => message),
    [left, left, HELD, "the user may read topics that were left out"],
  );
  const reason = 'denied b; a transaction that was not ended holds back partition 0 of topic "t" from offset 5 on';
  assert.deepEqual(reports.at(-1), { state: "degraded", reason });
});

test("topics that come, go, may be read, or have other partitions than before are other ones", () => {
  const found = (...topics: readonly [string, number][]): FoundTopics => {
    return { partitions: new Map(topics), ids: new Map(), missing: [], denied: new Map() };
  };
  const before = found(["a", 1], ["b", 2]);

  const now = [found(["b", 2], ["a", 1]), found(["a", 1]), found(["a", 1], ["b", 3]), found(["a", 1], ["c", 2])];
  const others = [...now, found(["a", 1], ["b", 2], ["c", 1])].map((one) => isOther(before, one));

  assert.deepEqual(others, [false, true, true, true, true]);
});
