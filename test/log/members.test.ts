import assert from "node:assert/strict";
import { test } from "node:test";
import { type AgentReport, reportOf, reportText } from "../../core/log/agent-report.js";
import { atBeginning } from "../../core/log/log-position.js";
import { Members } from "../../core/log/members.js";

const session = 1000;

function report(name: string, more: Partial<AgentReport> = {}): AgentReport {
  const own = {
    member: `${name}-${more.run ?? ""}`,
    run: `run-${name}`,
    agent: name,
    group: "g",
    log: "log",
    at: 0,
    takes: true,
    stuck: false,
    left: false,
  };
  return { ...own, parts: new Map(), heard: new Map(), ...more };
}

function membersOf(name: string, ...reports: readonly AgentReport[]): Members {
  const members = new Members({ member: `${name}-`, group: "g", sessionMillis: session });
  for (const one of reports) members.hear(one, 0);
  return members;
}

const done = (offset: number) => ({ ...atBeginning, offset, index: 0, events: offset + 1, stored: offset + 1 });
const working = (offset: number) => ({
  done: done(offset),
  waiting: 0,
  more: false,
  oldest: undefined,
  next: offset + 1,
});

test("each part belongs to one of the agents that take, all agree which", () => {
  const reports = [report("a"), report("b"), report("c")];

  const shares = ["a", "b", "c"].map((name) => [...membersOf(name, ...reports).share(8, 0)]);

  assert.deepEqual(shares, [
    [0, 3, 6],
    [1, 4, 7],
    [2, 5],
  ]);
});

const without: readonly { readonly title: string; readonly b: AgentReport; readonly now: number }[] = [
  { title: "that stops", b: report("b", { left: true }), now: 0 },
  { title: "whose sinks do not get on", b: report("b", { stuck: true }), now: 0 },
  { title: "that has no sinks", b: report("b", { takes: false }), now: 0 },
  { title: "of another group", b: report("b", { group: "other" }), now: 0 },
];

for (const { title, b, now } of without)
  test(`an agent ${title} gets no part`, () => {
    assert.deepEqual([...membersOf("a", report("a"), b).share(2, now)], [0, 1]);
  });

test("an agent that is silent for a session gets no part, and has its share again when it is heard", () => {
  const members = membersOf("a", report("a"), report("b"));
  members.hear(report("a"), session);

  const alone = [...members.share(2, session)];
  members.hear(report("b"), session);

  assert.deepEqual([alone, [...members.share(2, session)]], [[0, 1], [0]]);
});

test("when no agent gets on, all keep their shares", () => {
  assert.deepEqual([...membersOf("a", report("a", { stuck: true }), report("b", { stuck: true })).share(2, 0)], [0]);
});

test("an agent that works on a part is waited for, one whose sinks do not get on is not", () => {
  const parts = new Map([[0, working(5)]]);

  const waitedFor = [false, true].map((stuck) => membersOf("a", report("b", { parts, stuck })).worker(0, 0)?.run);

  assert.deepEqual(waitedFor, ["run-b", undefined]);
});

test("two agents at work on machines with the same host name and data directory share the parts", () => {
  const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds));
  const first = { member: "one", run: `localhost,1,${at(0).toISOString()},x` };
  const second = { member: "two", run: `localhost,1,${at(5).toISOString()},y` };
  const members = new Members({ member: "one", group: "g", sessionMillis: session });
  for (const seconds of [6, 8, 10])
    for (const own of [first, second]) members.hear(report("a", { ...own, at: at(seconds).getTime() }), 0);

  assert.deepEqual([...members.share(4, 0)], [0, 2]);
  members.hear(report("a", { member: "three", run: `localhost,1,${at(11).toISOString()},z`, at: at(11).getTime() }), 0);
  assert.deepEqual(
    members.alive(0).map(({ member }) => member),
    ["three"],
  );
});

test("a new run of an agent takes the place of the one before", () => {
  const members = membersOf("a", report("a"), report("b", { run: "before", at: 1 }), report("b", { at: 2 }));

  assert.deepEqual(
    members.alive(0).map(({ run }) => run),
    ["run-a", "run-b"],
  );
});

test("a report that was there before the start counts as old as the clocks say", () => {
  const members = membersOf("a", report("a"));

  members.hear(report("b"), 0, 900);

  assert.deepEqual([members.share(2, 50).size, members.share(2, 150).size], [1, 2]);
});

test("up to where a part is done is heard from whoever works on it, and from others of those that are gone", () => {
  const members = membersOf(
    "a",
    report("b", { parts: new Map([[0, working(5)]]), heard: new Map([["g", new Map([[1, done(7)]])]]) }),
    report("c", { parts: new Map([[0, working(3)]]) }),
  );

  assert.deepEqual([members.done(0)?.offset, members.done(1)?.offset, members.done(2)], [5, 7, undefined]);
});

test("a group that takes and has told of no part holds the whole log", () => {
  const members = membersOf(
    "a",
    report("a"),
    report("x", { group: "new" }),
    report("y", { group: "puts", takes: false }),
  );

  assert.deepEqual([...members.groups.keys()], ["g", "new"]);
});

test("a group that is retired is not kept, though others still report it; the own group is never retired", () => {
  const members = new Members({ member: "a-", group: "g", sessionMillis: session, retired: ["old", "g"] });

  members.hear(report("x", { group: "old", parts: new Map([[0, working(5)]]) }), 0);
  members.hear(report("y", { heard: new Map([["old", new Map([[1, done(7)]])]]) }), 0);
  members.hear(report("z", { group: "new" }), 0);

  assert.deepEqual([...members.groups.keys()], ["g", "new"]);
});

test("a report reads as it was written", () => {
  const one = report("b", {
    stuck: true,
    at: 5,
    parts: new Map([[3, { ...working(9), waiting: 2, more: true, oldest: 77 }]]),
    heard: new Map([["other", new Map([[1, done(7)]])]]),
  });

  assert.deepEqual(reportOf(reportText(one)), one);
});

for (const text of [
  "",
  "null",
  "[]",
  "{}",
  '{"deneb":2,"member":"m","run":"r","agent":"a","group":"g"}',
  "\u0000\u0001",
])
  test(`${JSON.stringify(text)} is no report`, () => {
    assert.equal(reportOf(text), undefined);
  });

test("a report says once up to where a part of its agent is done", () => {
  const heard = new Map([
    [
      "g",
      new Map([
        [0, done(5)],
        [1, done(7)],
        [2, done(9)],
      ]),
    ],
    ["other", new Map([[0, done(5)]])],
  ]);
  const sent = report("a", {
    parts: new Map([
      [0, working(5)],
      [2, working(3)],
    ]),
    heard,
  });

  const read = reportOf(reportText(sent));

  assert.deepEqual(
    [...(read?.heard ?? [])].map(([group, places]) => [group, [...places.keys()]]),
    [
      ["g", [1, 2]],
      ["other", [0]],
    ],
  );
});
