import assert from "node:assert/strict";
import { mkdir, rename, rmdir } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { LateLetters } from "../../../core/pipeline/dead-letters/late-letters.js";
import { LetterFollower } from "../../../core/pipeline/dead-letters/letter-follower.js";
import { OwnChanges } from "../../../core/pipeline/dead-letters/own-changes.js";
import { textOfEntry } from "../../../core/pipeline/dead-letters/shared-entries.js";
import { SharedErasures } from "../../../core/pipeline/dead-letters/shared-erasures.js";
import { TakenEntries } from "../../../core/pipeline/dead-letters/taken-entries.js";
import { Erasures } from "../../../core/pipeline/erasures.js";
import type { Event, SharedLetters } from "../../../core/sdk/index.js";
import { recordingLog } from "../../support/recording-log.js";
import { SharedLog } from "../../support/shared-channel.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { agentOf, letter } from "./letters-agent.js";

test("the log forgets up to the oldest open letter, and an agent that was away closes what is gone", async (context) => {
  const shared = new SharedLog();
  const first = await agentOf(context, shared);
  const second = await agentOf(context, shared);
  await first.letters.keep([letter("l.0.1-a"), letter("l.0.2-a")]);
  await second.has("l.0.1-a", "l.0.2-a");
  await second.stop();

  await first.letters.mark("k1", ["l.0.1-a"], "dropped");
  await first.follower.forgetSettled();
  const again = await agentOf(context, shared, second.folder);

  assert.equal(shared.letters[0]?.offset, 1);
  assert.deepEqual(await again.ids(), ["l.0.2-a"]);
  assert.equal(again.follower.has("l.0.2"), true);
  assert.equal(again.follower.has("l.0.1"), false);
});

test("only the first agent has the log forget, and not while nothing changed", async (context) => {
  const shared = new SharedLog();
  const first = await agentOf(context, shared);
  const second = await agentOf(context, shared);
  await first.letters.keep([letter("l.0.1-a")]);
  await first.letters.mark("k1", ["l.0.1-a"], "dropped");
  await second.has();

  await second.follower.forgetSettled();
  const untouched = shared.letters.length;
  await first.follower.forgetSettled();
  const left = shared.letters.length;
  await first.follower.forgetSettled();

  assert.equal(untouched, 2);
  assert.equal(left, 1);
  assert.equal(shared.letters.length, 1);
});

test("letters of a log that is gone stay: in the new one nobody has settled them", async (context) => {
  const gone = new SharedLog();
  const first = await agentOf(context, gone);
  await first.letters.keep([letter("l.0.1-a")]);
  await first.stop();
  const made = new SharedLog(2, "another-log");
  const second = await agentOf(context, made);
  await second.letters.keep([letter("m.0.1-a"), letter("m.0.2-a")]);
  await second.letters.mark("k1", ["m.0.1-a"], "dropped");
  await second.follower.forgetSettled();

  const again = await agentOf(context, made, first.folder);

  await again.has("l.0.1-a", "m.0.2-a");
  assert.deepEqual(await again.letters.mark("k1", ["l.0.1-a"], "dropped"), ["l.0.1-a"]);
  assert.deepEqual(await again.ids(), ["m.0.2-a"]);
});

test("of two agents that mark a letter at once the first one in the log does", async (context) => {
  const shared = new SharedLog();
  const first = await agentOf(context, shared);
  const second = await agentOf(context, shared);
  await first.letters.keep([letter("l.0.1-a")]);
  await second.has("l.0.1-a");

  const marked = await Promise.all(
    [first, second].map(({ letters }) =>
      letters.mark("k1", ["l.0.1-a"], "replaying", (entry) => entry?.mark === "waiting"),
    ),
  );

  assert.deepEqual(marked.map(({ length }) => length).toSorted(), [0, 1]);
});

test("what an agent was replaying counts as underway while it is at work", async (context) => {
  const shared = new SharedLog();
  const first = await agentOf(context, shared);
  const second = await agentOf(context, shared);
  await first.letters.keep([letter("l.0.1-a")]);
  await first.letters.mark("k1", ["l.0.1-a"], "replaying");
  const there = await until(
    () => second.letters.entry("k1", "l.0.1-a"),
    (entry) => entry?.mark === "replaying",
  );

  shared.kill(first.channel);
  const after = await second.letters.entry("k1", "l.0.1-a");

  assert.equal(there?.own, true);
  assert.equal(after?.own, false);
});

test("letters that are kept while the log is away are refused, and a follower goes on when it is back", async (context) => {
  const shared = new SharedLog();
  const first = await agentOf(context, shared);
  const second = await agentOf(context, shared);
  shared.unreachable = "the log is away";
  shared.wake();

  await assert.rejects(first.letters.keep([letter("l.0.1-a")]), { code: "LOG_UNAVAILABLE" });
  shared.unreachable = undefined;
  await first.letters.keep([letter("l.0.1-a")]);

  await second.has("l.0.1-a");
});

test("a log that does not answer is not asked before every write, but for the books it is, and again once it is heard of", async (context) => {
  const shared = new SharedLog();
  const asking = await askingAgent(context, shared);
  const second = await agentOf(context, shared);
  shared.unreachable = "the log is away";
  shared.wake();

  for (let write = 0; write < 5; write += 1) await asking.upToDate();
  const whileAway = asking.asked();
  await asking.upToDate(0);
  const forBooks = asking.asked();
  shared.unreachable = undefined;
  await second.letters.keep([letter("l.0.1-a")]);
  await asking.has("l.0.1");
  await asking.upToDate();

  assert.deepEqual([whileAway, forBooks, asking.asked()], [1, 2, 3]);
});

test("an agent that cannot write letters into its files adds no more of them to the log and says so in its health, until it can", async (context) => {
  const shared = new SharedLog();
  const first = await agentOf(context, shared);
  await first.letters.keep([letter("l.0.1-a")]);
  const file = first.letters.fileOf("k1");
  await rename(file, `${file}.aside`);
  await mkdir(file);

  const attempts = async (count: number) => {
    for (let attempt = 0; attempt < count; attempt += 1) await assert.rejects(first.letters.keep([letter("l.0.2-a")]));
  };
  await attempts(1);
  const once = shared.letters.length;
  await attempts(5);
  const often = shared.letters.length;
  const down = first.reports.at(-1);
  await rmdir(file);
  await rename(`${file}.aside`, file);
  await first.has("l.0.1-a", "l.0.2-a");
  await first.letters.keep([letter("l.0.3-a")]);

  assert.deepEqual([once, often], [2, 2]);
  assert.equal(down?.state, "down");
  assert.match(down?.reason ?? "", /those that are in the log cannot be taken over now: writing dead letters to/);
  assert.deepEqual(first.reports.at(-1), { state: "up" });
  assert.deepEqual(await first.ids(), ["l.0.1-a", "l.0.2-a", "l.0.3-a"]);
});

test("a sink whose name no file can have is left out", async (context) => {
  const shared = new SharedLog();
  const first = await agentOf(context, shared);
  const record = letter("l.0.1-a");
  const texts = ["x".repeat(300), "\ud800", "../../etc"].map((sink, at) =>
    JSON.stringify({ version: 1, sink, record: { ...record, sink }, agent: "a", group: "deneb", by: "b", number: at }),
  );

  await first.channel.letters?.append(texts);
  await first.letters.keep([record]);

  assert.deepEqual(await first.letters.sinks(), ["../../etc", "k1"]);
});

test("a thousand letters and a restart are the same letters", async (context) => {
  const shared = new SharedLog();
  const first = await agentOf(context, shared);
  const second = await agentOf(context, shared);
  const all = Array.from({ length: 1000 }, (_, number) => letter(`l.0.${number}-a`));

  await first.letters.keep(all);
  await first.letters.mark(
    "k1",
    all.slice(0, 500).map(({ id }) => id),
    "dropped",
  );
  await until(second.ids, ({ length }) => length === 500);
  await second.letters.compact("k1");
  await second.stop();
  const again = await agentOf(context, shared, second.folder);

  assert.deepEqual(await again.ids(), await first.ids());
});

test("open letters of another group over the log stay in it, and are no letters of this one", async (context) => {
  const shared = new SharedLog();
  const first = await agentOf(context, shared);
  const entry = (record: object, after?: number) =>
    JSON.stringify({ version: 1, sink: "k1", record, after, agent: "x", group: "other", by: "x", number: 1 });
  const mark = { id: "l.0.8-a", mark: "dropped", time: "2026-01-15T10:20:30.123Z", run: "x" };
  await first.channel.letters?.append([entry(letter("l.0.8-a")), entry(letter("l.0.9-a"))]);
  await first.letters.keep([letter("l.0.1-a")]);
  await first.letters.mark("k1", ["l.0.1-a"], "dropped");

  await first.follower.forgetSettled();
  const before = shared.letters[0]?.offset;
  await first.channel.letters?.append([entry(mark, 0)]);
  await first.letters.keep([letter("l.0.2-a")]);
  await first.follower.forgetSettled();

  assert.deepEqual(await first.ids(), ["l.0.2-a"]);
  assert.equal(before, 0);
  assert.equal(shared.letters[0]?.offset, 1);
});

test("letters of a log that was made again keep no entry of the new one", async (context) => {
  const letters = new DeadLetters(await tempFolder(context));
  await letters.start();
  context.after(() => letters.stop());
  const { log } = recordingLog();
  const erasures = new SharedErasures({ all: [], take: async () => {} });
  const own = new OwnChanges();
  const late = new LateLetters({ letters, log });
  const all = { letters, erasures, own, late, by: "me", log, sinks: new Set<string>(), add: async () => {} };
  const entries = new TakenEntries(all);
  const entry = (group: string, offset: number) => {
    const change = { sink: "k1", record: letter(`l.0.${offset}-a`) };
    return { offset, text: textOfEntry({ kind: "change", change, agent: "x", group, by: "x", number: 1 }) };
  };
  entries.begin({ log: "l", group: "mine" });
  await entries.takeOver([entry("other", 3), entry("mine", 4)]);
  const before = { oldest: entries.oldest(), has: entries.has("l.0.4") };

  entries.begin({ log: "m", group: "mine" });
  await entries.takeOver([entry("mine", 7)]);

  assert.deepEqual(before, { oldest: 3, has: true });
  assert.deepEqual({ oldest: entries.oldest(), has: entries.has("l.0.4") }, { oldest: 8, has: false });
});

test("an erasure that one agent gets is kept by the others, by one that comes later, and in the log until none keeps it", async (context) => {
  const shared = new SharedLog();
  const first = await agentOf(context, shared);
  const second = await agentOf(context, shared);
  const has = async ({ erasures }: { readonly erasures: Erasures }) =>
    await until(
      async () => erasures.all,
      ({ length }) => length === 1,
    );
  const trimmed = async () => {
    await first.letters.keep([letter("l.0.1-a")]);
    await first.letters.mark("k1", ["l.0.1-a"], "dropped");
    await first.follower.forgetSettled();
    return shared.letters.filter(({ text }) => "erasure" in JSON.parse(text)).length;
  };

  await first.erasures.add({ entity: "urn:a" }, 1000);
  await first.follower.shareErasures();
  const [taken] = await has(second);
  await second.stop();
  const left = await trimmed();
  const third = await agentOf(context, shared);
  await has(third);
  await first.erasures.forget(2000);

  assert.equal(taken?.time, 1000);
  assert.equal(
    second.erasures.erasedAmong([event("urn:a", 1000), event("urn:a", 1001), event("urn:b", 1000)]).length,
    1,
  );
  assert.equal(left, 1);
  assert.equal(await trimmed(), 0);
});

test("an erasure of a stopped agent, or one that the log could not take, is shared when the agent can", async (context) => {
  const shared = new SharedLog();
  const other = await agentOf(context, shared);
  const folder = await tempFolder(context);
  const told = new Erasures(path.join(folder, "erasures.json"));
  await told.add({ service: "svc" }, 1000);

  const first = await agentOf(context, shared, folder);
  const has = (count: number) =>
    until(
      async () => other.erasures.all,
      ({ length }) => length === count,
    );
  await has(1);
  shared.unreachable = "nobody answers";
  await first.erasures.add({ entity: "urn:a" }, 2000);
  await assert.rejects(first.follower.shareErasures(), { code: "LOG_UNAVAILABLE", retryable: true });
  shared.unreachable = undefined;
  await first.follower.shareErasures();
  const all = await has(2);

  assert.deepEqual(
    all.map(({ time }) => time),
    [1000, 2000],
  );
});

function event(id: string, received: number): Event {
  return { headers: { timestamp: String(received) }, body: { id } };
}

/** An agent of which is known how often it asks the log what it has not followed yet. */
async function askingAgent(context: TestContext, shared: SharedLog) {
  const { channel, letters, erasures } = await agentOf(context, shared);
  let asked = 0;
  const counted = (of: SharedLetters): SharedLetters => ({
    append: (texts) => of.append(texts),
    follow: (from, listener, signal) => of.follow(from, listener, signal),
    forget: (before) => of.forget(before),
    caughtUp: async () => {
      asked += 1;
      await of.caughtUp?.();
    },
  });
  const follower = new LetterFollower({
    shared: () => channel.letters && counted(channel.letters),
    summary: () => channel.log(),
    letters,
    erasures,
    log: recordingLog().log,
  });
  await follower.start();
  context.after(() => follower.stop());
  const { signal } = new AbortController();
  return {
    asked: () => asked,
    upToDate: (milliseconds = 1) => follower.upToDate(signal, milliseconds),
    has: (id: string) =>
      until(
        async () => follower.has(id),
        (known) => known,
      ),
  };
}

test("dead letters that do not come back from the log in time are not waited for, so that the log appends no more of them", async () => {
  const own = new OwnChanges(1);
  const waited: AbortSignal[] = [];
  const append = async (_changes: unknown, signal: AbortSignal) => {
    waited.push(signal);
  };

  const published = own.published([{ sink: "k", record: letter("a") }], {
    append,
    signal: new AbortController().signal,
  });

  await assert.rejects(published, { code: "DEAD_LETTERS_NOT_SHARED", retryable: true });
  assert.deepEqual(
    waited.map(({ aborted }) => aborted),
    [true],
  );
});
