import assert from "node:assert/strict";
import { appendFile, mkdir, readdir, readFile, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  type DeadLetter,
  type DeadLetterLimits,
  DeadLetters,
  type OpenLetter,
} from "../../../core/pipeline/dead-letters/dead-letters.js";
import { codeOf, reasonOf, retryableOf } from "../../../core/sdk/index.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { tornAppends } from "./torn-appends.js";

const unlimited: DeadLetterLimits = { days: 0, bytes: 0 };

const letter = (id: string, time = "2026-01-15T10:00:00.000Z"): DeadLetter => ({
  id,
  time,
  sink: "s/1",
  reason: "permanent",
  message: "storing a value that never goes in",
  attempts: 1,
  event: { headers: { name: id }, body: { text: `${id}\u2028${"x".repeat(100)}` } },
});

async function setUp(context: TestContext, limits = unlimited) {
  const folder = await tempFolder(context);
  const { log, lines } = recordingLog();
  let now = new Date("2026-01-15T12:00:00.000Z");
  let uptime = 0;
  const open = () => new DeadLetters(folder, { limits, log, clock: { now: () => now }, uptime: () => uptime });
  const letters = open();
  context.after(() => letters.stop());
  const later = (time: string) => {
    now = new Date(time);
  };
  /** Hours go by on both clocks. */
  const pass = (hours: number) => {
    uptime += hours * 3_600_000;
    now = new Date(now.getTime() + hours * 3_600_000);
  };
  return { letters, open, lines, later, pass, file: letters.fileOf("s/1") };
}

async function openIds(letters: DeadLetters): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id, state } of letters.open()) ids.push(`${id} ${state}`);
  return ids;
}

test("a letter is read as it was kept", async (context) => {
  const { letters } = await setUp(context);

  await letters.keep([letter("a")]);

  const expected: OpenLetter = { ...letter("a"), state: "waiting" };
  assert.deepEqual(await letters.find("a"), expected);
  assert.equal(await letters.find("b"), undefined);
});

test("whatever byte a crash tore the last letter at, the others stay and the next one is whole", async (context) => {
  const { letters, open, file } = await setUp(context);
  await letters.keep([letter("a"), letter("b")]);
  const whole = await readFile(file);
  const startOfLast = whole.indexOf(10) + 1;

  for (let end = startOfLast; end < whole.length - 1; end += 1) {
    await writeFile(file, whole.subarray(0, end));
    const next = open();
    await next.start();
    await next.keep([letter("c")]);
    await next.stop();

    assert.deepEqual(await openIds(next), ["a waiting", "c waiting"]);
  }
});

test("a letter that a failing disk took half of, and that could not be cut off again, costs no other one", async (context) => {
  const { letters, file, open: reopen } = await setUp(context);
  await letters.keep([letter("a")]);
  const { append, truncate } = await tornAppends(context, file);

  await assert.rejects(letters.keep([letter("b")]), { code: "DEAD_LETTERS_UNWRITABLE" });
  append.restore();
  await assert.rejects(letters.keep([letter("c")]), { code: "DEAD_LETTERS_UNWRITABLE" });
  truncate.restore();
  await letters.keep([letter("c")]);

  assert.deepEqual(await openIds(reopen()), ["a waiting", "c waiting"]);
});

test("a damaged line in the middle costs that line only", async (context) => {
  const { letters, file } = await setUp(context);
  await letters.keep([letter("a")]);
  await appendFile(file, `{"id":"x","time":12}\n\u0000\u0001\n`);
  await letters.keep([letter("b")]);

  assert.deepEqual(await openIds(letters), ["a waiting", "b waiting"]);
});

const marks = [
  { mark: "dropped", left: [] },
  { mark: "stored", left: [] },
  { mark: "replaying", left: ["a replaying"] },
  { mark: "waiting", left: ["a waiting"] },
] as const;

for (const { mark, left } of marks)
  test(`a letter marked ${mark} is ${left.length === 0 ? "gone" : mark}`, async (context) => {
    const { letters } = await setUp(context);
    await letters.keep([letter("a")]);

    await letters.mark("s/1", ["a"], mark);

    assert.deepEqual(await openIds(letters), left);
  });

test("a replayed letter that fails again waits again, once", async (context) => {
  const { letters } = await setUp(context);
  await letters.keep([letter("a")]);
  await letters.mark("s/1", ["a"], "replaying");

  await letters.keep([letter("a", "2026-01-15T11:00:00.000Z")]);

  assert.deepEqual(await openIds(letters), ["a waiting"]);
  assert.equal((await letters.find("a"))?.time, "2026-01-15T11:00:00.000Z");
});

test("at the limit of bytes no more letters are kept, none goes, and the error says what to do", async (context) => {
  const { letters, file } = await setUp(context, { days: 0, bytes: 4000 });
  const kept: string[] = [];
  const refusals: unknown[] = [];

  for (let n = 0; n < 40; n += 1) {
    await letters.keep([letter(`letter-${n}`)]).then(
      () => kept.push(`letter-${n} waiting`),
      (error: unknown) => refusals.push(error),
    );
  }

  assert.ok((await stat(file)).size <= 4000);
  assert.deepEqual(await openIds(letters), kept);
  assert.ok(kept.length > 3 && refusals.length > 3);
  assert.deepEqual([codeOf(refusals[0]), retryableOf(refusals[0])], ["DEAD_LETTERS_FULL", true]);
  assert.match(
    reasonOf(refusals[0]),
    /dead letters full: \d+ bytes of 4000, .*replay or drop some, or raise DENEB_DEAD/,
  );
});

test("what is dropped makes room at once", async (context) => {
  const { letters } = await setUp(context, { days: 0, bytes: 700 });
  await letters.keep([letter("a"), letter("b")]);
  await assert.rejects(letters.keep([letter("c")]), /dead letters full/);

  await letters.mark("s/1", ["a"], "dropped");
  await letters.keep([letter("c")]);

  assert.deepEqual(await openIds(letters), ["b waiting", "c waiting"]);
});

test("a replayed letter that fails again is kept though there is no room for new ones", async (context) => {
  const { letters } = await setUp(context, { days: 0, bytes: 700 });
  await letters.keep([letter("a"), letter("b")]);
  await letters.mark("s/1", ["a"], "replaying");

  await letters.keep([letter("a", "2026-01-15T11:00:00.000Z")]);

  assert.deepEqual(await openIds(letters), ["b waiting", "a waiting"]);
  assert.equal((await letters.entry("s/1", "a"))?.replays, 1);
});

test("a file that somebody removed makes room too", async (context) => {
  const { letters, file } = await setUp(context, { days: 0, bytes: 700 });
  await letters.keep([letter("a"), letter("b")]);
  await rm(file);

  await letters.keep([letter("c")]);

  assert.deepEqual(await openIds(letters), ["c waiting"]);
});

test("nothing is removed by age unless that is asked for", async (context) => {
  const { letters, later } = await setUp(context);
  await letters.keep([letter("a")]);

  for (const day of ["2027-01-01", "2028-01-01", "2029-01-01"]) {
    later(`${day}T00:00:00.000Z`);
    await letters.removeOld();
  }

  assert.deepEqual(await openIds(letters), ["a waiting"]);
});

test("a letter older than the limit goes when it still is after a day of uptime, and is counted", async (context) => {
  const { letters, pass, lines } = await setUp(context, { days: 2, bytes: 0 });
  await letters.keep([letter("old", "2026-01-12T10:00:00.000Z"), letter("young")]);

  await letters.removeOld();
  const after: (readonly string[])[] = [await openIds(letters)];
  for (const hours of [23, 1]) {
    pass(hours);
    await letters.removeOld();
    after.push(await openIds(letters));
  }

  assert.deepEqual(after, [["old waiting", "young waiting"], ["old waiting", "young waiting"], ["young waiting"]]);
  assert.equal(letters.counts()[0]?.deleted, 1);
  assert.deepEqual(
    lines.filter(({ level }) => level !== "info").map(({ level }) => level),
    ["warn", "error"],
  );
});

test("a clock that is set 40 days forth takes no letter, and neither does it after the next start", async (context) => {
  const { letters, open, later, pass } = await setUp(context, { days: 30, bytes: 0 });
  await letters.keep([letter("a")]);
  await letters.removeOld();

  later("2026-02-24T12:00:00.000Z");
  await letters.removeOld();
  pass(1);
  await letters.removeOld();
  const restarted = open();
  context.after(() => restarted.stop());
  await restarted.start();
  pass(1);
  await restarted.removeOld();

  assert.deepEqual(await openIds(restarted), ["a waiting"]);
});

test("what is dropped is gone from the disk once the file is rewritten, and what came meanwhile is there", async (context) => {
  const { letters, file } = await setUp(context);
  await letters.keep([letter("gone"), letter("a"), letter("b")]);
  await letters.mark("s/1", ["gone"], "dropped");

  const compacting = letters.compact("s/1");
  await Promise.all([letters.keep([letter("c")]), letters.mark("s/1", ["a"], "replaying"), compacting]);

  const text = await readFile(file, "utf8");
  assert.doesNotMatch(text, /gone/);
  assert.deepEqual(await openIds(letters), ["a replaying", "b waiting", "c waiting"]);
  assert.deepEqual(await readdir(dirname(file)), ["s%2F1.ndjson"]);
});

test("a crash at any byte of writing the file anew leaves the file, and the next start removes the rest", async (context) => {
  const { letters, open, file } = await setUp(context);
  await letters.keep([letter("gone"), letter("a"), letter("b")]);
  await letters.mark("s/1", ["gone"], "dropped");
  const before = await readFile(file);
  await letters.compact("s/1");
  const after = await readFile(file);

  for (let end = 0; end <= after.length; end += 1) {
    await writeFile(file, before);
    await writeFile(`${file}.new`, after.subarray(0, end));
    const next = open();
    await next.start();
    assert.deepEqual(await openIds(next), ["a waiting", "b waiting"]);
    await next.stop();
    assert.deepEqual(await readdir(dirname(file)), ["s%2F1.ndjson"]);
    assert.deepEqual(await readFile(file), after);
  }
});

test("a file that cannot be rewritten stays, and its dropped letters stay dropped", async (context) => {
  const { letters, file } = await setUp(context);
  await letters.keep([letter("gone"), letter("a")]);
  await letters.mark("s/1", ["gone"], "dropped");
  await mkdir(`${file}.new`);

  await assert.rejects(letters.compact("s/1"));
  const ids = await openIds(letters);
  await rmdir(`${file}.new`);
  await letters.compact("s/1");

  assert.deepEqual(ids, ["a waiting"]);
  assert.doesNotMatch(await readFile(file, "utf8"), /gone/);
});

test("lines that cannot be read stay when the file is rewritten", async (context) => {
  const { letters, file } = await setUp(context);
  await letters.keep([letter("gone"), letter("a")]);
  await appendFile(file, `{"id":"x","reason":"of a later version"}\n`);
  await letters.mark("s/1", ["gone"], "dropped");

  await letters.compact("s/1");

  assert.match(await readFile(file, "utf8"), /of a later version/);
});

test("only the account of the agent reads letters", async (context) => {
  const folder = join(await tempFolder(context), "letters");
  const letters = new DeadLetters(folder);
  await letters.keep([letter("a"), letter("b")]);
  await letters.mark("s/1", ["a"], "dropped");

  const before = (await stat(letters.fileOf("s/1"))).mode & 0o777;
  await letters.compact("s/1");
  const after = (await stat(letters.fileOf("s/1"))).mode & 0o777;

  assert.deepEqual([before, after, (await stat(folder)).mode & 0o777], [0o600, 0o600, 0o700]);
  await letters.stop();
});

test("letters are counted by reason as they come and go, and are the same after a start", async (context) => {
  const { letters, open } = await setUp(context);
  await letters.keep([
    letter("a", "2026-01-14T10:00:00.000Z"),
    letter("b"),
    { ...letter("c"), reason: "retries-exhausted" },
  ]);
  await letters.keep([letter("d")]);
  await letters.mark("s/1", ["a"], "replaying");
  await letters.mark("s/1", ["b"], "stored");
  await letters.mark("s/1", ["d"], "dropped");
  const next = open();
  await next.start();
  context.after(() => next.stop());

  const [{ kept, ...counts } = assert.fail("no counts")] = letters.counts();

  const none = { permanent: 0, "retries-exhausted": 0, "crashed-the-agent": 0, stopped: 0 };
  assert.deepEqual(next.counts(), [{ ...counts, kept: none }]);
  assert.deepEqual(kept, { ...none, permanent: 3, "retries-exhausted": 1 });
  const bytes = [letter("a", "2026-01-14T10:00:00.000Z"), { ...letter("c"), reason: "retries-exhausted" }]
    .map((one) => Buffer.byteLength(JSON.stringify(one)) + 1)
    .reduce((sum, one) => sum + one);
  assert.deepEqual(counts, {
    sink: "s/1",
    waiting: 1,
    replaying: 1,
    reasons: { permanent: 1, "retries-exhausted": 1, "crashed-the-agent": 0, stopped: 0 },
    bytes,
    oldest: new Date("2026-01-14T10:00:00.000Z"),
    deleted: 0,
  });
});

test("what was stored is remembered when the file is rewritten, without its text", async (context) => {
  const { letters, open, file } = await setUp(context);
  await letters.keep([letter("a")]);
  await letters.mark("s/1", ["a"], "stored");
  await letters.compact("s/1");

  const next = open();

  assert.deepEqual(await next.stored("s/1"), ["a"]);
  assert.doesNotMatch(await readFile(file, "utf8"), /xxx/);
});

test("a line without an end is read in time that grows with it, and costs the others nothing", async (context) => {
  const { letters, file } = await setUp(context);
  await letters.keep([letter("a")]);
  await appendFile(file, Buffer.alloc(40_000_000, "x"));
  await appendFile(file, "\n");
  await letters.keep([letter("b")]);

  assert.deepEqual(await openIds(letters), ["a waiting", "b waiting"]);
});
