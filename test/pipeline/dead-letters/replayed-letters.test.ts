import assert from "node:assert/strict";
import { test } from "node:test";
import { replayedEvent, type SentLetter } from "../../../core/pipeline/dead-letters/dead-letter.js";
import { ReplayedLetters } from "../../../core/pipeline/dead-letters/replayed-letters.js";
import { AgentError, type Event, letterHeader } from "../../../core/sdk/index.js";
import { recordingLog } from "../../support/recording-log.js";
import { until } from "../../support/until.js";
import { letter } from "./letters-agent.js";

const replayed = (id: number): Event => ({ headers: { [letterHeader]: `letter-${id}` }, body: {} });

test("an agent that replays any number of dead letters remembers the last 100,000 that were stored, and not all of them", async () => {
  const deadLetters = {
    stored: async () => [],
    entry: async () => undefined,
    holder: async () => "k1",
    markStored: async () => {},
    storedUnlessChanged: async () => [],
  };
  const letters = new ReplayedLetters({ sink: "k1", deadLetters, log: recordingLog().log });
  await letters.start();
  const most = 300_000;
  for (let from = 0; from < most; from += 1000)
    await letters.stored(Array.from({ length: 1000 }, (_, at) => replayed(from + at)));

  const known = await letters.repeated([most - 1, most - 100_000, 0].map(replayed));

  assert.deepEqual(known, { own: [], others: [replayed(most - 1), replayed(most - 100_000)] });
});

test("of events that another agent is done with, those whose letters count as stored are not stored again", async () => {
  const asked: unknown[] = [];
  const deadLetters = {
    stored: async () => [],
    entry: async () => undefined,
    holder: async () => "k2",
    markStored: async () => assert.fail("what another agent did is not certain"),
    storedUnlessChanged: async (sink: string, letters: readonly SentLetter[]) => {
      asked.push(sink, letters);
      return ["letter-2"];
    },
  };
  const letters = new ReplayedLetters({ sink: "k1", deadLetters, log: recordingLog().log });
  const [first, second] = [1, 2].map((id) => replayedEvent({ id: `letter-${id}`, event: replayed(id) }, 10 + id));
  assert.ok(first && second);

  await letters.doneElsewhere([first, second, { headers: {}, body: {} }]);

  const sent = [
    { id: "letter-1", sentAt: 11 },
    { id: "letter-2", sentAt: 12 },
  ];
  assert.deepEqual(asked, ["k2", sent]);
  assert.deepEqual((await letters.repeated([first, second])).others, [second]);
});

test("of several events of one letter in a batch the one that was sent last is delivered, but none once one is stored", async () => {
  const deadLetters = {
    stored: async () => [],
    entry: async () => undefined,
    holder: async () => "k1",
    markStored: async () => {},
    storedUnlessChanged: async () => [],
  };
  const letters = new ReplayedLetters({ sink: "k1", deadLetters, log: recordingLog().log });
  const sent = (at: number) => replayedEvent(letter("l-1"), at);
  const [first, second, third] = [sent(5), sent(9), sent(7)];

  const last = await letters.repeated([first, second, third]);
  const stored = await letters.repeated([first, second, third], (event) => event === first);

  assert.deepEqual(last, { own: [], others: [first, third] });
  assert.deepEqual(stored, { own: [], others: [second, third] });
});

test("letters that are stored and cannot be marked so, as while a log that agents share is away, are marked when they can be", async () => {
  const marked: string[] = [];
  let tries = 0;
  const mark = async (ids: readonly string[]) => {
    tries += 1;
    if (tries < 5) throw new AgentError("LOG_UNAVAILABLE", "the log is away", { retryable: true });
    marked.push(...ids);
  };
  const deadLetters = {
    stored: async () => [],
    entry: async () => undefined,
    holder: async () => "k1",
    markStored: async (_: string, letters: readonly SentLetter[]) => mark(letters.map(({ id }) => id)),
    storedUnlessChanged: async (_: string, letters: readonly SentLetter[]) => {
      const ids = letters.map(({ id }) => id);
      await mark(ids);
      return ids;
    },
  };
  const { log, lines } = recordingLog();
  const letters = new ReplayedLetters({ sink: "k1", deadLetters, log, markAgain: 1 });

  await letters.stored([replayed(1)]);
  await letters.doneElsewhere([replayed(2)]);

  await until(
    async () => marked.toSorted().join(),
    (ids) => ids === "letter-1,letter-2",
  );
  await until(
    async () => lines.some(({ message }) => message === "letters whose events are stored are marked so now"),
    (isSaid) => isSaid,
  );
});
