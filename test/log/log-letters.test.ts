import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { LogLetters } from "../../core/log/log-letters.js";
import type { PartitionedLog } from "../../core/log/partitioned-log.js";
import { directoryLog } from "../support/directory-log.js";
import { latch } from "../support/latch.js";
import { tempFolder } from "../support/temp-folder.js";

type Append = PartitionedLog["append"];

/** Letters over a log in a folder whose appends are those of `append`, which gets the one of the log. */
async function lettersOver(context: TestContext, append: (own: Append) => Append, steady = () => 0) {
  const log = directoryLog({ folder: await tempFolder(context), partitions: 1 });
  await log.open(AbortSignal.timeout(20_000));
  context.after(() => log.close(AbortSignal.timeout(1000)));
  const letters = new LogLetters({
    log: { append: append(log.append.bind(log)), bounds: log.bounds.bind(log), trim: log.trim.bind(log) },
    reader: { listen: () => undefined, leave: () => undefined },
    largestRecord: () => 1000,
    steady,
    sessionMillis: 1000,
  });
  const texts = async () => {
    const limits = { bytes: 10_000, waitMillis: 0 };
    const found = await log.read(new Map([["letters", 0]]), limits, AbortSignal.timeout(20_000));
    return found.get("letters")?.map(({ value }) => Buffer.from(value).toString());
  };
  return { letters, texts };
}

const abandoned = { code: "LOG_UNAVAILABLE", retryable: true };

test("dead letters that are no longer waited for are not appended behind the one on its way; later ones are", async (context) => {
  const begun = latch();
  const answer = latch();
  const { letters, texts } = await lettersOver(context, (append) => async (...appending) => {
    begun.open();
    await answer.opened;
    return await append(...appending);
  });
  const leaving = new AbortController();
  const left = [letters.append(["on its way", "behind it"], leaving.signal), letters.append(["next"], leaving.signal)];
  const waited = letters.append(["later"]);
  await begun.opened;
  leaving.abort();
  answer.open();

  for (const one of left) await assert.rejects(one, abandoned);
  await waited;
  assert.deepEqual(await texts(), ["on its way", "later"]);
});

test("what waits behind dead letters of which one is held up for a session is not appended; what waits behind many is", async (context) => {
  let now = 0;
  const slow = (append: Append): Append => {
    return async (part, value, name) => {
      now += Buffer.from(value).toString() === "held up" ? 1000 : 999;
      return await append(part, value, name);
    };
  };
  const { letters, texts } = await lettersOver(context, slow, () => now);

  const many = letters.append(["a", "b", "c"]);
  const list = letters.append(["d", "held up", "the rest"]);
  const behind = letters.append(["behind it"]);

  await many;
  await assert.rejects(list, abandoned);
  await assert.rejects(behind, abandoned);
  await letters.append(["later"]);
  assert.deepEqual(await texts(), ["a", "b", "c", "d", "held up", "later"]);
});

test("any number of dead letters is appended at once", async (context) => {
  const sizes: number[] = [];
  const { letters } = await lettersOver(context, () => async (_, value) => {
    sizes.push(value.byteLength);
    return { offset: sizes.length, previous: undefined };
  });

  await letters.append(new Array<string>(150_000).fill("letter"));

  assert.equal(sizes.length, 150_000);
});
