import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { replayedEvent } from "../../../core/pipeline/dead-letters/dead-letter.js";
import { LateLetters } from "../../../core/pipeline/dead-letters/late-letters.js";
import { ReplayedLetters } from "../../../core/pipeline/dead-letters/replayed-letters.js";
import { AgentError } from "../../../core/sdk/index.js";
import { recordingLog } from "../../support/recording-log.js";
import { SharedLog } from "../../support/shared-channel.js";
import { until } from "../../support/until.js";
import { agentOf, letter } from "./letters-agent.js";

async function twoAgents(context: TestContext) {
  const shared = new SharedLog();
  return { first: await agentOf(context, shared), second: await agentOf(context, shared) };
}

test("a dead letter that comes behind the row that another agent stored of its event is stored, for all agents", async (context) => {
  const { first, second } = await twoAgents(context);
  second.follower.stored(["l.0.1", "l.0.3"]);

  await first.letters.keep([letter("l.0.1-a"), letter("l.0.2-a")]);

  await first.has("l.0.2-a");
  await second.has("l.0.2-a");
  assert.equal((await first.letters.entry("k1", "l.0.1-a"))?.mark, "stored");
});

test("so is one that comes while another agent stores its event, and one of the agent itself", async (context) => {
  const { first, second } = await twoAgents(context);
  await first.letters.keep([letter("l.0.1-a"), letter("l.0.2-a")]);
  await second.has("l.0.1-a", "l.0.2-a");

  second.follower.stored(["l.0.1"]);
  first.follower.stored(["l.0.2"]);

  await first.has();
  await second.has();
});

test("a replay of such a letter that is on its way is left out", async (context) => {
  const { first, second } = await twoAgents(context);
  await first.letters.keep([letter("l.0.1-a")]);
  await second.has("l.0.1-a");
  const [sent] = await first.letters.markReplaying("k1", ["l.0.1-a"], () => true);

  second.follower.stored(["l.0.1"]);

  await first.has();
  const replayed = new ReplayedLetters({ sink: "k1", deadLetters: first.letters, log: recordingLog().log });
  const event = replayedEvent(letter("l.0.1-a"), sent?.sentAt);
  assert.deepEqual(await replayed.repeated([event]), { own: [], others: [event] });
});

test("what cannot be marked is marked later, with what has come since", async () => {
  const marked: string[][] = [];
  let isAway = true;
  const letters = {
    markStored: async (_: string, all: readonly { readonly id: string }[]) => {
      if (isAway) throw new AgentError("LOG_UNAVAILABLE", "the log is away", { retryable: true });
      marked.push(all.map(({ id }) => id));
    },
  };
  const { log, lines } = recordingLog();
  const late = new LateLetters({ letters, log, markAgain: 1 });

  late.stored("l.0.1", { sink: "k1", id: "l.0.1-a" });
  await until(
    async () => lines.length,
    (count) => count === 1,
  );
  isAway = false;
  late.stored("l.0.2", undefined);
  late.written("l.0.2", { sink: "k1", id: "l.0.2-a" });

  await until(
    async () => marked.flat().toSorted().join(),
    (ids) => ids === "l.0.1-a,l.0.2-a",
  );
});
