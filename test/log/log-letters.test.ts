import assert from "node:assert/strict";
import { test } from "node:test";
import { LogLetters } from "../../core/log/log-letters.js";
import { directoryLog } from "../support/directory-log.js";
import { latch } from "../support/latch.js";
import { tempFolder } from "../support/temp-folder.js";

test("dead letters that are no longer waited for are not appended behind the one on its way; later ones are", async (context) => {
  const log = directoryLog({ folder: await tempFolder(context), partitions: 1 });
  await log.open(AbortSignal.timeout(20_000));
  context.after(() => log.close(AbortSignal.timeout(1000)));
  const begun = latch();
  const answer = latch();
  const slow = {
    append: async (...appending: Parameters<typeof log.append>) => {
      begun.open();
      await answer.opened;
      return await log.append(...appending);
    },
    bounds: log.bounds.bind(log),
    trim: log.trim.bind(log),
  };
  const letters = new LogLetters({
    log: slow,
    reader: { listen: () => undefined, leave: () => undefined },
    largestRecord: () => 1000,
    steady: () => 0,
    sessionMillis: 1000,
  });
  const leaving = new AbortController();
  const left = [letters.append(["on its way", "behind it"], leaving.signal), letters.append(["next"], leaving.signal)];
  const waited = letters.append(["later"]);
  await begun.opened;
  leaving.abort();
  answer.open();

  for (const one of left) await assert.rejects(one, { code: "LOG_UNAVAILABLE", retryable: true });
  await waited;
  const limits = { bytes: 10_000, waitMillis: 0 };
  const found = await log.read(new Map([["letters", 0]]), limits, AbortSignal.timeout(20_000));
  assert.deepEqual(
    found.get("letters")?.map(({ value }) => Buffer.from(value).toString()),
    ["on its way", "later"],
  );
});

test("of a list of dead letters that was held up for a session the rest is not appended", async (context) => {
  const log = directoryLog({ folder: await tempFolder(context), partitions: 1 });
  await log.open(AbortSignal.timeout(20_000));
  context.after(() => log.close(AbortSignal.timeout(1000)));
  let now = 0;
  const appended: string[] = [];
  const heldUp = {
    append: async (...[part, value, name]: Parameters<typeof log.append>) => {
      const text = Buffer.from(value).toString();
      appended.push(text);
      now += text === "held up" ? 1000 : 999;
      return await log.append(part, value, name);
    },
    bounds: log.bounds.bind(log),
    trim: log.trim.bind(log),
  };
  const letters = new LogLetters({
    log: heldUp,
    reader: { listen: () => undefined, leave: () => undefined },
    largestRecord: () => 1000,
    steady: () => now,
    sessionMillis: 1000,
  });

  const list = letters.append(["in time", "held up", "the rest"]);
  const behind = letters.append(["behind it"]);

  await assert.rejects(list, { code: "LOG_UNAVAILABLE", retryable: true });
  await assert.rejects(behind, { code: "LOG_UNAVAILABLE", retryable: true });
  await letters.append(["later"]);
  assert.deepEqual(appended, ["in time", "held up", "later"]);
});
