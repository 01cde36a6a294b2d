import assert from "node:assert/strict";
import { test } from "node:test";
import type { DeadLetter } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { until } from "../../support/until.js";
import { deadLetter, serve } from "./dead-letters.js";

const explanation = { writes: [], statements: [], notes: ['{"n":1}'] };

test("a dry run of a replay tells by reason and code what is to be expected, with examples, and changes nothing", async (context) => {
  const { call, deadLetters, sink } = await serve(context);
  const with_ = (id: string, more: Partial<DeadLetter>) => ({ ...deadLetter(id), ...more });
  await deadLetters.keep([
    deadLetter("a"),
    deadLetter("b"),
    with_("c", { reason: "retries-exhausted", code: "AWAY", event: { headers: {}, body: "unfit" } }),
    with_("d", { reason: "crashed-the-agent", code: "CRASH" }),
  ]);
  await deadLetters.keep([deadLetter("e", "gone")]);

  const { status, body } = await call("POST", "/replay?dry_run=true&explain=9");

  assert.equal(status, 409);
  assert.deepEqual([body.replayed, body.underway, body.refused], [4, 0, 1]);
  assert.equal(body.plan.complete, true);
  const [gone, here] = body.plan.sinks;
  assert.deepEqual([gone.sink, gone.exists, gone.groups[0].outlook], ["gone", false, "fails-again"]);
  assert.deepEqual([here.sink, here.exists, here.health, here.room, here.letters], ["k1", true, "up", 2, 4]);
  assert.deepEqual(
    here.groups.map(({ reason, code, letters, outlook }: Record<string, unknown>) => [reason, code, letters, outlook]),
    [
      ["permanent", "POISON", 2, "fails-again"],
      ["retries-exhausted", "AWAY", 1, "may-succeed"],
      ["crashed-the-agent", "CRASH", 1, "dangerous"],
    ],
  );
  assert.deepEqual(body.plan.examples, [
    { id: "e", sink: "gone", outlook: "fails-again", failure: "the agent has no sink of that name" },
    { id: "a", sink: "k1", outlook: "fails-again", explanation },
    { id: "c", sink: "k1", outlook: "fails-again", failure: "no table for a text" },
    { id: "d", sink: "k1", outlook: "dangerous", explanation },
  ]);
  assert.deepEqual([sink.writes.length, deadLetters.counts().map(({ waiting }) => waiting)], [0, [4, 1]]);
});

test("without explain a dry run has no plan", async (context) => {
  const { call, deadLetters } = await serve(context);
  await deadLetters.keep([deadLetter("a")]);

  const { body } = await call("POST", "/replay?dry_run=true");

  assert.deepEqual(body, { success: "true", replayed: 1, underway: 0, refused: 0 });
});

test("a selection is replayed, another one is dropped, and the others stay", async (context) => {
  const { call, deadLetters, sink } = await serve(context);
  await deadLetters.keep(["a", "b", "c", "d"].map((id) => deadLetter(id)));

  const replayed = await call("POST", "/replay", { ids: ["b", "nobody"] });
  const stored = await until(
    async () => sink.writes.length,
    (writes) => writes > 0,
  );
  const dropped = await call("DELETE", "", { ids: ["c", "d", "nobody"] });
  const { body } = await call("GET", "");

  assert.deepEqual([replayed.status, replayed.body.replayed], [200, 1]);
  assert.equal(stored, 1);
  assert.deepEqual([dropped.status, dropped.body], [200, { success: "true", dropped: 2, underway: 0 }]);
  assert.deepEqual(
    body.deadletters.map(({ id }: { readonly id: string }) => id),
    ["a"],
  );
});

const wrong = [
  {},
  { ids: [] },
  { ids: "a" },
  { ids: [1] },
  { ids: ["a"], all: true },
  [],
  { ids: Array(1001).fill("a") },
];

for (const body of wrong)
  test(`a selection of ${JSON.stringify(body).slice(0, 40)} drops and replays nothing`, async (context) => {
    const { call, deadLetters } = await serve(context);
    await deadLetters.keep([deadLetter("a")]);

    const answers = [
      await call("DELETE", "", body),
      await call("DELETE", "?all=true", body),
      await call("POST", "/replay", body),
    ];

    for (const { status, body: answered } of answers) {
      assert.equal(status, 400);
      assert.match(answered.error, /1 to 1000 ids/);
    }
    assert.deepEqual(
      deadLetters.counts().map(({ waiting }) => waiting),
      [1],
    );
  });
