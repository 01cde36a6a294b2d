import assert from "node:assert/strict";
import { test } from "node:test";
import { ReplayedLetters } from "../../../core/pipeline/dead-letters/replayed-letters.js";
import { type Event, letterHeader } from "../../../core/sdk/index.js";
import { recordingLog } from "../../support/recording-log.js";

const replayed = (id: number): Event => ({ headers: { [letterHeader]: `letter-${id}` }, body: {} });

test("an agent that replays any number of dead letters remembers the last 100,000 that were stored, and not all of them", async () => {
  const deadLetters = {
    stored: async () => [],
    entry: async () => undefined,
    holder: async () => "k1",
    mark: async () => [],
  };
  const letters = new ReplayedLetters({ sink: "k1", deadLetters, log: recordingLog().log });
  await letters.start();
  const most = 300_000;
  for (let from = 0; from < most; from += 1000)
    await letters.stored(Array.from({ length: 1000 }, (_, at) => replayed(from + at)));

  const known = await letters.repeated([most - 1, most - 100_000, 0].map(replayed));

  assert.deepEqual(known, [replayed(most - 1), replayed(most - 100_000)]);
});

test("a replayed dead letter that another agent is done with is not stored where it waits again", async () => {
  const marked: string[] = [];
  const entry = { reason: undefined, time: 0, bytes: 0, replays: 1, own: false, offset: 1, line: 1, lastLine: 1 };
  const deadLetters = {
    stored: async () => [],
    entry: async (_sink: string, id: string) =>
      ({ ...entry, mark: id === "letter-1" ? "waiting" : "replaying" }) as const,
    holder: async () => "k1",
    mark: async (_sink: string, ids: readonly string[]) => {
      marked.push(...ids);
      return [];
    },
  };
  const letters = new ReplayedLetters({ sink: "k1", deadLetters, log: recordingLog().log });

  await letters.doneElsewhere([replayed(1), replayed(2)]);

  assert.deepEqual(marked, ["letter-2"]);
  assert.deepEqual(await letters.repeated([replayed(1)]), []);
});
