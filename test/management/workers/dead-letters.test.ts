import assert from "node:assert/strict";
import { test } from "node:test";
import { DEAD_LETTERS } from "../../../core/agent/container.js";
import { Starting } from "../../../core/management/starting.js";
import type { DeadLetter } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { command } from "../../support/command.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { until } from "../../support/until.js";
import { deadLetter } from "../dead-letters/dead-letters.js";
import { type RunningWorker, runningTeam, since } from "./running-team.js";

const path = "/v1/admin/deadletters";

interface Listed {
  readonly id: string;
}

const idsOf = (letters: readonly Listed[]) => letters.map(({ id }) => id);

const at = (id: string, second: number, sink = "k1"): DeadLetter => ({
  ...deadLetter(id, sink),
  time: `2026-01-15T10:00:${String(second).padStart(2, "0")}.000Z`,
});

async function keep(worker: RunningWorker | undefined, ...letters: readonly DeadLetter[]): Promise<void> {
  for (const letter of letters) await worker?.container.resolve(DEAD_LETTERS).keep([letter]);
}

test("the dead letters of all workers are one list in its order, of which pages can be asked", async (context) => {
  const { call, workers } = await runningTeam(context, { workers: [{}, {}] });
  await keep(workers[0], at("a", 1), at("c", 3), at("e", 5));
  await keep(workers[1], at("b", 2), at("d", 4), at("z", 0, "zone"));

  const all = await call("GET", path);
  const page = await call("GET", `${path}?limit=2&offset=1`);
  const ofSink = await call("GET", `${path}?sink=zone`);
  const unknown = await call("GET", `${path}?sink=nobody`);

  assert.deepEqual([all.body.success, all.body.count], ["true", 6]);
  assert.deepEqual(idsOf(all.body.deadletters), ["a", "b", "c", "d", "e", "z"]);
  assert.deepEqual([page.body.count, idsOf(page.body.deadletters)], [6, ["b", "c"]]);
  assert.deepEqual([ofSink.body.count, idsOf(ofSink.body.deadletters)], [1, ["z"]]);
  assert.equal(unknown.status, 404);
});

test("the command lists all dead letters of workers, also where they are more than one call reaches", async (context) => {
  const { port, workers, change } = await runningTeam(context, { workers: [{}, {}, {}] });
  const many = (from: number) => Array.from({ length: 5_001 }, (_, index) => at(`l${from}-${index}`, from));
  for (const [index, worker] of workers.slice(0, 2).entries())
    await worker.container.resolve(DEAD_LETTERS).keep(many(index));
  change(3, { state: "restarting", reason: "exit code 1" });

  const list = ["dead-letters", "list", "--json", "--management-port", String(port)];
  const { exitCode, out, err } = await command(list);

  assert.equal(exitCode, 0, err);
  const listed: readonly Listed[] = JSON.parse(out);
  assert.deepEqual(idsOf(listed), [many(0), many(1)].flatMap(idsOf));
  assert.match(err, /warning: the dead letters of a worker are not listed: worker 3 /);
});

test("a search goes through all workers page by page, and ends", async (context) => {
  const { call, workers } = await runningTeam(context, { workers: [{}, {}, {}] });
  await keep(workers[0], at("a", 1), at("c", 3), at("e", 5));
  await keep(workers[2], at("b", 2), at("d", 4));
  const pages: string[][] = [];

  let cursor = "";
  for (let complete = false; !complete; ) {
    const { body } = await call("GET", `${path}/search?limit=3${cursor === "" ? "" : `&cursor=${cursor}`}`);
    pages.push(idsOf(body.deadletters));
    complete = body.complete;
    cursor = body.next ?? "";
  }
  const broken = await call("GET", `${path}/search?cursor=nonsense`);

  assert.deepEqual(pages[0], ["e", "d"]);
  assert.deepEqual(pages.flat().toSorted(), ["a", "b", "c", "d", "e"]);
  assert.equal(broken.status, 400);
});

test("a page of fewer letters than workers leaves none out", async (context) => {
  const { call, workers } = await runningTeam(context, { workers: [{}, {}, {}] });
  for (const [index, worker] of workers.entries()) await keep(worker, at(`l${index}`, index), at(`m${index}`, index));
  const found: string[] = [];

  let cursor: string | undefined;
  do {
    const query: string = cursor === undefined ? "" : `&cursor=${cursor}`;
    const { body } = await call("GET", `${path}/search?limit=1${query}`);
    assert.ok(body.deadletters.length <= 1);
    found.push(...idsOf(body.deadletters));
    cursor = body.next;
  } while (cursor !== undefined);

  assert.deepEqual(found.toSorted(), ["l0", "l1", "l2", "m0", "m1", "m2"]);
});

test("one letter is shown, replayed and dropped by the worker that has it", async (context) => {
  const sinks = [new ScriptedSink(), new ScriptedSink()];
  const { call, workers } = await runningTeam(context, { workers: sinks.map((sink) => ({ sink })) });
  await keep(workers[1], at("a", 1), at("b", 2));

  const shown = await call("GET", `${path}/a`);
  const replayed = await call("POST", `${path}/a/replay`);
  const dropped = await call("DELETE", `${path}/b`);
  const none = await call("GET", `${path}/nothing`);
  const left = await until(
    () => call("GET", path),
    ({ body }) => body.count === 0,
  );

  assert.deepEqual(shown.body.deadletter.event, { headers: { name: "a" }, body: { n: 1 } });
  assert.deepEqual(replayed.body, { success: "true", replayed: 1, underway: 0, refused: 0 });
  assert.deepEqual(dropped.body, { success: "true", dropped: 1, underway: 0 });
  assert.equal(none.status, 404);
  assert.deepEqual([sinks[0]?.stored.length, sinks[1]?.stored.length], [0, 1]);
  assert.deepEqual(left.body.deadletters, []);
});

test("letters of all workers are replayed by one call and dropped by another", async (context) => {
  const sinks = [new ScriptedSink(), new ScriptedSink()];
  const { call, workers } = await runningTeam(context, { workers: sinks.map((sink) => ({ sink })) });
  await keep(workers[0], at("a", 1), at("b", 2));
  await keep(workers[1], at("c", 3), at("d", 4));

  const dry = await call("POST", `${path}/replay?dry_run=true&explain=2`);
  const replayed = await call("POST", `${path}/replay`, { body: JSON.stringify({ ids: ["a", "c"] }) });
  const wrong = await call("DELETE", path);
  const dropped = await call("DELETE", `${path}?since=2026-01-15T10:00:02Z`, {
    body: JSON.stringify({ ids: ["b", "d"] }),
  });
  await until(
    () => call("GET", path),
    ({ body }) => body.count === 0,
  );

  assert.deepEqual([dry.body.replayed, dry.body.plan.sinks.length, dry.body.plan.sinks[0].letters], [4, 1, 4]);
  assert.deepEqual([dry.body.plan.sinks[0].groups.length, dry.body.plan.sinks[0].groups[0].letters], [1, 4]);
  assert.equal(dry.body.plan.examples.length, 2);
  assert.deepEqual(replayed.body, { success: "true", replayed: 2, underway: 0, refused: 0 });
  assert.equal(wrong.status, 400);
  assert.deepEqual(dropped.body, { success: "true", dropped: 2, underway: 0 });
  assert.deepEqual([sinks[0]?.stored.length, sinks[1]?.stored.length], [1, 1]);
});

test("refusals of workers are joined, and letters of other sinks are replayed", async (context) => {
  const { call, workers } = await runningTeam(context, { workers: [{}, {}] });
  await keep(workers[0], at("a", 1), at("x", 2, "gone"));
  await keep(workers[1], at("y", 3, "gone"));

  const { status, body } = await call("POST", `${path}/replay`);

  assert.deepEqual([status, body.success, body.replayed, body.refused], [409, "false", 1, 2]);
  assert.match(body.error, /sink "gone", which the agent does not have/);
  assert.deepEqual([body.refusals.length, body.refusals[0].sink, body.refusals[0].letters], [1, "gone", 2]);
});

test("a worker that starts is left out of the list, and where all start the list is refused", async (context) => {
  const { call, workers } = await runningTeam(context, { workers: [{}, {}] });
  await keep(workers[0], at("a", 1));
  await keep(workers[1], at("b", 2));
  const { listener } = new Starting(since);

  await workers[1]?.close();
  await workers[1]?.serve(listener);
  const list = await call("GET", path);
  const search = await call("GET", `${path}/search`);
  const dropped = await call("DELETE", `${path}?all=true`);
  await workers[0]?.close();
  await workers[0]?.serve(listener);
  const nothing = await call("GET", path);

  assert.deepEqual([list.body.count, idsOf(list.body.deadletters)], [1, ["a"]]);
  assert.deepEqual([idsOf(search.body.deadletters), search.body.complete], [["a"], false]);
  assert.deepEqual(search.body.missing, ["worker 2 does not answer"]);
  assert.equal(dropped.status, 503);
  assert.match(dropped.body.error, /Nothing is changed: worker 2 does not say which dead letters it has/);
  assert.equal(nothing.status, 503);
});

test("nothing is dropped while a worker does not run", async (context) => {
  const { call, workers, change } = await runningTeam(context, { workers: [{}, {}] });
  await keep(workers[0], at("a", 1));
  change(2, { state: "restarting" });

  const dropped = await call("DELETE", `${path}?all=true`);
  const unknown = await call("DELETE", `${path}/b`);
  const list = await call("GET", path);

  assert.deepEqual(list.body.missing, ["worker 2 is restarting"]);
  assert.equal(dropped.status, 503);
  assert.match(dropped.body.error, /Nothing is changed: worker 2 is restarting/);
  assert.equal(unknown.status, 503);
  assert.match(unknown.body.error, /worker 2, which may have it, is restarting/);
  assert.equal(list.body.count, 1);
});

test("a search does not claim to be complete while a worker is away, which goes on where it was when it is back", async (context) => {
  const { call, workers, change } = await runningTeam(context, { workers: [{}, {}] });
  for (const number of [1, 2, 3]) await keep(workers[0], at(`a${number}`, number));
  for (const number of [1, 2]) await keep(workers[1], at(`b${number}`, number));

  const all = await call("GET", `${path}/search?limit=2`);
  change(2, { state: "restarting" });
  const without = await call("GET", `${path}/search?limit=1&cursor=${all.body.next}`);
  change(2, { state: "running" });
  const back = await call("GET", `${path}/search?limit=10&cursor=${without.body.next}`);
  change(2, { state: "silent" });
  const last = await call("GET", `${path}/search?limit=10`);

  assert.deepEqual([idsOf(all.body.deadletters), all.body.missing], [["a3", "b2"], undefined]);
  assert.deepEqual([idsOf(without.body.deadletters), without.body.missing], [["a2"], ["worker 2 is restarting"]]);
  assert.deepEqual([idsOf(back.body.deadletters), back.body.complete], [["a1", "b1"], true]);
  assert.deepEqual(
    [idsOf(last.body.deadletters), last.body.complete, last.body.next, last.body.missing],
    [["a3", "a2", "a1"], false, undefined, ["worker 2 is silent"]],
  );
});
