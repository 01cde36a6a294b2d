import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DEAD_LETTER_REPLAY, DEAD_LETTERS } from "../../../core/agent/container.js";
import { AutomaticReplay } from "../../../core/agent/replay/automatic-replay.js";
import { RecentActivity } from "../../../core/agent/state/recent-activity.js";
import type { LetterChange } from "../../../core/pipeline/dead-letters/shared-changes.js";
import { AgentError } from "../../../core/sdk/index.js";
import memoryChannel from "../../../plugins/memory-channel/index.js";
import { recordingLog } from "../../support/recording-log.js";
import { runningManagement } from "../../support/running-management.js";
import { ScriptedSink } from "../../support/scripted-sink.js";
import { until } from "../../support/until.js";
import { open, twoWithLetter } from "../sharing-agents.js";

const away = () => new AgentError("LOG_UNAVAILABLE", "the answer is lost", { retryable: true });

/** Two agents, of which the second one has tried to replay the letter: its mark is in their log or not, the event is not in the channel. */
async function withLostAnswer(context: TestContext, { isMarked }: { readonly isMarked: boolean }) {
  const { store, first, second, letter } = await twoWithLetter(context);
  const letters = second.channel?.letters ?? assert.fail("the channel has no letters");
  const append = letters.append.bind(letters);
  letters.append = async (texts) => {
    letters.append = append;
    if (isMarked) await append(texts);
    throw away();
  };
  store.refused.clear();
  const lost = await second.replay.replay({});
  assert.equal(lost.replayed, 0);
  if (isMarked) for (const { letters: own } of [first, second]) await inState(own, "replaying");
  return { store, first, second, id: letter?.id ?? "" };
}

async function inState(letters: Parameters<typeof open>[0], state: "waiting" | "replaying"): Promise<void> {
  await until(
    () => open(letters, 1),
    ([letter]) => letter?.state === state,
  );
}

test("a letter that is marked in the log, although its agent did not learn of it and has not sent it, is replayed", async (context) => {
  const { store, first, second } = await withLostAnswer(context, { isMarked: true });

  const again = await second.replay.replay({});

  assert.deepEqual([again.replayed, again.underway], [1, 0]);
  await first.has(0);
  await second.has(0);
  assert.deepEqual(store.rows, ["b"]);
});

test("it waits again also when another agent is the one that replays by itself", async (context) => {
  const { first, second } = await withLostAnswer(context, { isMarked: true });
  const clock = { now: () => new Date(0) };
  const replays = new AutomaticReplay({
    deadLetterReplay: second.replay,
    letters: second.letters,
    activity: new RecentActivity(clock),
    clock,
    log: recordingLog().log,
  });
  context.after(() => replays.stop());

  await replays.pass();

  await inState(first.letters, "waiting");
});

test("a letter that another agent replays meanwhile is left to it", async (context) => {
  const { first, second, id } = await withLostAnswer(context, { isMarked: false });
  await first.letters.markReplaying("k1", [id], (entry) => entry?.mark === "waiting");
  await inState(second.letters, "replaying");

  const replayed = await second.replay.replay({});
  const dropped = await second.replay.drop({});

  assert.deepEqual([replayed.replayed, replayed.underway], [0, 1]);
  assert.deepEqual(dropped, { dropped: 0, underway: 1 });
});

test("a letter whose mark is in the log is not forgotten while the log is opened again", async (context) => {
  const { second } = await withLostAnswer(context, { isMarked: true });
  const { id: log, agents } = second.channel?.log() ?? assert.fail("the log is not open");
  const published: LetterChange[] = [];
  const sharing = (isOpen: boolean) => ({
    log,
    isAtWork: () => isOpen,
    isMine: (run: string) => isOpen && agents.some((agent) => agent.mine && agent.run === run),
    publish: async (changes: readonly LetterChange[]) => {
      published.push(...changes);
      return changes.map(() => undefined);
    },
    publishLetters: async () => [],
  });

  for (const isOpen of [false, true]) {
    await second.letters.share("k1", sharing(isOpen));
    await second.replay.takeBack("k1");
  }

  const marks = published.map(({ record }) => ("mark" in record ? record.mark : undefined));
  assert.deepEqual(marks, ["waiting"]);
});

test("a letter that its channel refuses while the log takes no mark either is replayed when both are back", async (context) => {
  const { store, second } = await twoWithLetter(context);
  const channel = second.channel ?? assert.fail("there is no channel");
  const openPut = channel.openPut.bind(channel);
  channel.openPut = () => {
    store.log.unreachable = "the log is away";
    return openPut();
  };
  store.refused.clear();

  const refused = await second.replay.replay({});
  channel.openPut = openPut;
  store.log.unreachable = undefined;
  await until(
    () => second.replay.replay({}),
    ({ replayed }) => replayed === 1,
  );

  assert.equal(refused.replayed, 0);
  await second.has(0);
  assert.deepEqual(store.rows, ["b"]);
});

test("a letter whose channel opens no transaction is replayed when it opens one", async (context) => {
  const sink = new ScriptedSink();
  let isBroken = true;
  const channelPlugin = {
    ...memoryChannel,
    create: (...args: Parameters<typeof memoryChannel.create>) => {
      const channel = memoryChannel.create(...args);
      const openPut = channel.openPut.bind(channel);
      channel.openPut = (...given) => (isBroken ? assert.fail("no transaction") : openPut(...given));
      return channel;
    },
  };
  const { container } = await runningManagement(context, { sink, channelPlugin });
  const replay = container.resolve(DEAD_LETTER_REPLAY);
  await container.resolve(DEAD_LETTERS).keep([
    {
      id: "letter-1",
      time: "2026-01-15T10:00:00.000Z",
      sink: "k1",
      reason: "permanent",
      message: "no column takes this value",
      attempts: 1,
      event: { headers: {}, body: {} },
    },
  ]);

  const refused = await replay.replay({});
  isBroken = false;
  const again = await replay.replay({});

  assert.deepEqual([refused.replayed, again.replayed, again.underway], [0, 1, 0]);
});
