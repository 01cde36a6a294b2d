import assert from "node:assert/strict";
import { test } from "node:test";
import { LEDGER } from "../../core/agent/container.js";
import { AutomaticReplay } from "../../core/agent/replay/automatic-replay.js";
import { RecentActivity } from "../../core/agent/state/recent-activity.js";
import { AgentError } from "../../core/sdk/index.js";
import { recordingLog } from "../support/recording-log.js";
import { until } from "../support/until.js";
import { agentOf, open, Store, twoWithLetter } from "./sharing-agents.js";

/** The agent is killed as soon as a letter of it is in the log. */
function dieAfterLetters({ log }: Store, { channel }: Awaited<ReturnType<typeof agentOf>>, then = () => {}): void {
  const letters = channel?.letters ?? assert.fail("the channel has no letters");
  const append = letters.append.bind(letters);
  letters.append = async (texts) => {
    await append(texts);
    log.kill(channel);
    then();
  };
}

test("a dead letter of one agent is in all of them, once, and says who wrote it", async (context) => {
  const store = new Store();
  store.refused.add("b");
  const first = await agentOf(context, store);
  const second = await agentOf(context, store);

  await first.put("a", "b", "c");
  const [one] = await first.has(1);
  const [other] = await second.has(1);

  assert.equal(one?.id, other?.id);
  assert.ok([first.channel?.run, second.channel?.run].includes(one?.shared?.agent));
  assert.deepEqual(one?.shared, other?.shared);
  await until(
    async () => store.log.summary(first.channel ?? assert.fail()),
    ({ waiting }) => waiting === 0,
  );
  assert.deepEqual(store.sorted, ["a", "c"]);
  assert.deepEqual(store.log.books, { stored: 2, deadLettered: 1, filtered: 0 });
});

test("an agent that comes later, and one with an empty folder, have the open letters", async (context) => {
  const store = new Store();
  store.refused.add("b");
  const first = await agentOf(context, store);
  await first.put("b");
  const [letter] = await first.has(1);
  await first.agent.stop(1000);

  const second = await agentOf(context, store);

  assert.deepEqual(
    (await second.has(1)).map(({ id }) => id),
    [letter?.id],
  );
});

test("any agent replays a letter, and it is gone from all of them", async (context) => {
  const { store, first, second } = await twoWithLetter(context);

  store.refused.clear();
  const result = await second.replay.replay({});

  assert.equal(result.replayed, 1);
  await first.has(0);
  await second.has(0);
  assert.deepEqual(store.rows, ["b"]);
});

test("of two agents that replay a letter at once one does", async (context) => {
  const { store, first, second } = await twoWithLetter(context);

  store.refused.clear();
  const results = await Promise.all([first.replay.replay({}), second.replay.replay({})]);

  await first.has(0);
  await second.has(0);
  assert.equal(
    results.reduce((sum, { replayed }) => sum + replayed, 0),
    1,
  );
  assert.deepEqual(store.rows, ["b"]);
});

test("a replayed letter that fails again is one letter with its replays in all agents", async (context) => {
  const { first, second, letter: before } = await twoWithLetter(context);

  await second.replay.replay({});

  for (const { letters } of [first, second]) {
    const [again] = await until(
      () => open(letters, 1),
      ([one]) => one?.replays === 1 && one.state === "waiting",
    );
    assert.equal(again?.id, before?.id);
  }
});

test("a replay that ended with its agent is made again by another one", async (context) => {
  const { store, first, second, letter } = await twoWithLetter(context);
  store.refused.clear();
  const id = letter?.id ?? "";
  await first.letters.mark("k1", [id], "replaying");
  await until(
    () => second.letters.entry("k1", id),
    (entry) => entry?.mark === "replaying",
  );
  let uptime = 0;
  const clock = { now: () => new Date(0) };
  const replays = new AutomaticReplay({
    deadLetterReplay: second.replay,
    letters: second.letters,
    activity: new RecentActivity(clock),
    clock,
    log: recordingLog().log,
    uptime: () => uptime,
  });
  context.after(() => replays.stop());

  store.log.kill(first.channel);
  await replays.pass();
  uptime += 60_000;
  await replays.pass();

  await second.has(0);
  assert.deepEqual(store.rows, ["b"]);
});

test("a letter stays stored although its channel did not say that it has its event", async (context) => {
  const { store, first, second } = await twoWithLetter(context);
  store.refused.clear();
  const channel = second.channel ?? assert.fail();
  const openPut = channel.openPut.bind(channel);
  channel.openPut = () => {
    const put = openPut();
    const commit = async () => {
      await put.commit();
      await second.has(0);
      throw new AgentError("LOG_UNAVAILABLE", "the log does not answer", { retryable: true });
    };
    return { ...put, commit };
  };

  const { refusals } = await second.replay.replay({});

  assert.equal(refusals.length, 1);
  await second.has(0);
  await first.has(0);
  assert.deepEqual(store.rows, ["b"]);
});

test("a letter that one agent drops is gone from the others", async (context) => {
  const { first, second } = await twoWithLetter(context);

  const { dropped } = await second.replay.drop({});

  assert.equal(dropped, 1);
  await first.has(0);
});

test("an event whose agent ended after its letter was written is not delivered again", async (context) => {
  const store = new Store();
  store.refused.add("b");
  const first = await agentOf(context, store);
  dieAfterLetters(store, first);
  await first.put("b");
  await until(
    async () => store.log.channels.length,
    (count) => count === 0,
  );
  store.refused.clear();

  const second = await agentOf(context, store);

  await second.has(1);
  await until(
    async () => store.log.summary(second.channel ?? assert.fail()),
    ({ waiting }) => waiting === 0,
  );
  assert.deepEqual(store.rows, []);
  assert.deepEqual(store.log.books, { stored: 0, deadLettered: 1, filtered: 0 });
});

test("letters wait for a log that cannot be reached, and none is kept twice", async (context) => {
  const store = new Store();
  store.refused.add("b");
  const first = await agentOf(context, store);
  await first.put("b");
  await first.has(1);

  store.log.unreachable = "the log is away";
  await assert.rejects(first.letters.mark("k1", [(await first.has(1))[0]?.id ?? ""], "dropped"), {
    code: "LOG_UNAVAILABLE",
  });
  store.log.unreachable = undefined;
  await first.replay.drop({});

  await first.has(0);
});

test("an agent that starts while the log is away takes nothing before it has the letters of the others", async (context) => {
  const store = new Store();
  store.refused.add("b");
  const first = await agentOf(context, store);
  dieAfterLetters(store, first, () => {
    store.log.unreachable = "the log is away";
  });
  await first.put("b", "c");
  await until(
    async () => store.log.unreachable,
    (reason) => reason !== undefined,
  );
  store.refused.clear();

  const second = await agentOf(context, store);
  store.log.unreachable = undefined;
  store.log.wake();

  await second.has(1);
  await until(
    async () => store.log.books.stored + store.log.books.deadLettered,
    (count) => count === 2,
  );
  assert.deepEqual(store.rows, ["c"]);
});

test("a letter that the log cannot hold is kept by its agent alone", async (context) => {
  const store = new Store();
  store.refused.add("b");
  const first = await agentOf(context, store);
  const second = await agentOf(context, store);
  store.log.largestEntry = 20;

  await first.put("b");

  const all = await until(
    async () => [...first.letters.counts(), ...second.letters.counts()],
    (counts) => counts.reduce((sum, { waiting }) => sum + waiting, 0) === 1,
  );
  assert.equal(store.log.letters.length, 0);
  assert.equal(all.length > 0, true);
});

test("entries that nobody can read are left out", async (context) => {
  const store = new Store();
  store.refused.add("b");
  const hostile = [
    "",
    "null",
    "{}",
    '{"version":1}',
    '{"version":2,"forgotten":99}',
    '{"version":1,"sink":"\\ud800","record":{},"agent":"a","by":"b","number":1}',
  ];
  const first = await agentOf(context, store);
  await first.channel?.letters?.append(hostile);

  await first.put("b");

  await first.has(1);
});

test("the ledger of agents that share a channel raises no alarm", async (context) => {
  const store = new Store();
  store.refused.add("b");
  const first = await agentOf(context, store);
  const second = await agentOf(context, store);
  await first.put("a", "b", "c", "d");
  await second.has(1);

  const accounts = [first, second].map(({ container }) => container.resolve(LEDGER).account("c1").state.received);

  assert.deepEqual(accounts, [4, 0]);
});

test("while agents are killed, each event is a row or one dead letter, and replayed it is one row", async (context) => {
  const store = new Store();
  const ids = Array.from({ length: 120 }, (_, number) => `e${number}`);
  for (const id of ids) if (Number(id.slice(1)) % 7 === 0) store.refused.add(id);
  const letters = [...store.refused];
  let agents = [await agentOf(context, store), await agentOf(context, store)];

  for (let at = 0; at < ids.length; at += 30) {
    const [first] = agents;
    await first?.put(...ids.slice(at, at + 30));
    const next = await agentOf(context, store);
    const killed = agents[at % 60 === 0 ? 0 : 1];
    store.log.kill(killed?.channel);
    agents = [...agents.filter((one) => one !== killed), next];
  }
  const [one, other] = agents;
  await until(
    async () => one?.channel?.size,
    (size) => size === 0,
  );
  const open = await one?.has(letters.length);
  await other?.has(letters.length);
  const before = store.rows.length;
  store.refused.clear();
  await Promise.all(agents.map(({ replay }) => replay.replay({})));
  await one?.has(0);
  await other?.has(0);

  assert.equal(before, ids.length - letters.length);
  assert.equal(new Set(open?.map(({ id }) => id)).size, letters.length);
  assert.deepEqual(store.sorted, ids.toSorted());
  const { appended, unaccounted, deadLettered } = store.log.summary(one?.channel ?? assert.fail());
  assert.deepEqual(
    { appended, unaccounted, deadLettered },
    { appended: 120 + letters.length, unaccounted: 0, deadLettered: letters.length },
  );
});
