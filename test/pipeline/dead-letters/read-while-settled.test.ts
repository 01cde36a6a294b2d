import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type DeadLetter, DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";

const time = "2026-01-15T10:00:00.000Z";

const letter = (id: string): DeadLetter => ({
  id,
  time,
  sink: "s/1",
  reason: "permanent",
  message: "storing a value that never goes in",
  attempts: 1,
  event: { headers: {}, body: id },
});

async function lettersIn(context: TestContext): Promise<DeadLetters> {
  const clock = { now: () => new Date(time) };
  const parts = { limits: { days: 0, bytes: 0 }, log: recordingLog().log, clock, uptime: () => 0 };
  const letters = new DeadLetters(await tempFolder(context), parts);
  context.after(() => letters.stop());
  return letters;
}

async function openIds(letters: DeadLetters): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id, state } of letters.open()) ids.push(`${id} ${state}`);
  return ids;
}

test("letters that are settled while others are read are left out, over a file that is rewritten meanwhile", async (context) => {
  const letters = await lettersIn(context);
  await letters.keep(["a", "b", "c", "d"].map((id) => letter(id)));
  const read: string[] = [];

  for await (const { id, state } of letters.open()) {
    read.push(`${id} ${state}`);
    if (id !== "a") continue;
    await letters.mark("s/1", ["b"], "stored");
    await letters.mark("s/1", ["c"], "replaying");
    await letters.compact("s/1");
  }

  assert.deepEqual(read, ["a waiting", "c replaying", "d waiting"]);
  assert.deepEqual(await openIds(letters), read);
});

test("letters are dropped while their ids are still read: the ids of millions are not held together", async (context) => {
  const letters = await lettersIn(context);
  await letters.keep(Array.from({ length: 2500 }, (_, index) => letter(`l${index}`)));
  const waiting = new Map<number, number | undefined>();
  const ids = async function* () {
    for (let index = 0; index < 2500; index += 1) {
      waiting.set(index, letters.counts()[0]?.waiting);
      yield `l${index}`;
    }
  };

  const dropped = await letters.drop("s/1", ids(), () => true);

  assert.deepEqual([dropped, waiting.get(0), waiting.get(1500), await openIds(letters)], [2500, 2500, 1500, []]);
});
