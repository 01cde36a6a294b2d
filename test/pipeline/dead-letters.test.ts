import assert from "node:assert/strict";
import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { type TestContext, test } from "node:test";
import {
  type DeadLetter,
  type DeadLetterLimits,
  DeadLetters,
  type OpenLetter,
} from "../../core/pipeline/dead-letters.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";

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
  const open = () => new DeadLetters(folder, { limits, log, clock: { now: () => now } });
  const letters = open();
  context.after(() => letters.stop());
  const later = (time: string) => {
    now = new Date(time);
  };
  return { letters, open, lines, later, file: letters.fileOf("s/1") };
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

  for (let end = startOfLast; end < whole.length; end += 1) {
    await writeFile(file, whole.subarray(0, end));
    const next = open();
    await next.start();
    await next.keep([letter("c")]);
    await next.stop();

    assert.deepEqual(await openIds(next), ["a waiting", "c waiting"]);
  }
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

test("beyond the limit of bytes the oldest letters go, with an error that counts them", async (context) => {
  const { letters, lines, file } = await setUp(context, { days: 0, bytes: 4000 });

  for (let n = 0; n < 40; n += 1) await letters.keep([letter(`letter-${n}`)]);

  const ids = await openIds(letters);
  assert.ok((await stat(file)).size <= 4000);
  assert.equal(ids.at(-1), "letter-39 waiting");
  assert.ok(ids.length > 3);
  const removed = lines.filter(({ level }) => level === "error").map(({ fields }) => Reflect.get(fields, "letters"));
  assert.equal(
    removed.reduce((sum, count) => sum + count, 0),
    40 - ids.length,
  );
});

test("settled letters make room before open ones go", async (context) => {
  const { letters, lines } = await setUp(context, { days: 0, bytes: 4000 });
  await letters.keep([letter("first")]);
  for (let n = 0; n < 30; n += 1) {
    await letters.keep([letter(`letter-${n}`)]);
    await letters.mark("s/1", [`letter-${n}`], "dropped");
  }

  assert.deepEqual(await openIds(letters), ["first waiting"]);
  assert.deepEqual(lines, []);
});

test("letters older than the limit go at the next start", async (context) => {
  const { letters, open, later } = await setUp(context, { days: 2, bytes: 0 });
  await letters.keep([letter("old", "2026-01-14T10:00:00.000Z"), letter("young")]);
  later("2026-01-16T11:00:00.000Z");

  const next = open();
  context.after(() => next.stop());
  await next.start();

  assert.deepEqual(await openIds(next), ["young waiting"]);
});

test("what was stored is remembered when the file is written anew", async (context) => {
  const { letters, open } = await setUp(context, { days: 0, bytes: 4000 });
  await letters.keep([letter("a")]);
  await letters.mark("s/1", ["a"], "stored");
  for (let n = 0; n < 12; n += 1) {
    await letters.keep([letter(`letter-${n}`)]);
    await letters.mark("s/1", [`letter-${n}`], "dropped");
  }

  const standing = (await open().standings("s/1")).get("a");

  assert.equal(standing?.mark, "stored");
  assert.equal(standing?.line, undefined);
});
