import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { type DeadLetter, DeadLetters } from "../../../core/pipeline/dead-letters/dead-letters.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { tornAppends } from "./torn-appends.js";

const letter = (id: string): DeadLetter => ({
  id,
  time: "2026-01-15T10:00:00.000Z",
  sink: "s/1",
  reason: "permanent",
  message: "storing a value that never goes in",
  attempts: 1,
  event: { headers: { name: id }, body: { text: `${id}\u2028${"x".repeat(100)}` } },
});

async function setUp(context: TestContext) {
  const folder = await tempFolder(context);
  const { log, lines } = recordingLog();
  const reopen = () =>
    new DeadLetters(folder, { limits: { days: 0, bytes: 0 }, log, clock: { now: () => new Date() } });
  const letters = reopen();
  context.after(() => letters.stop());
  return { letters, reopen, lines, file: letters.fileOf("s/1") };
}

async function openIds(letters: DeadLetters): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id, state } of letters.open()) ids.push(`${id} ${state}`);
  return ids;
}

test("a last letter without its line end, or with another byte there, is no part of one", async (context) => {
  const { letters, reopen, file } = await setUp(context);
  await letters.keep([letter("a"), letter("b")]);
  const whole = await readFile(file);

  for (const end of ["", "*"]) {
    await writeFile(file, Buffer.concat([whole.subarray(0, -1), Buffer.from(end)]));
    const next = reopen();
    await next.start();
    await next.keep([letter("c")]);
    const counts = next.counts().map(({ waiting }) => waiting);
    await next.stop();

    assert.deepEqual(await openIds(next), ["a waiting", "b waiting", "c waiting"]);
    assert.deepEqual(counts, [3]);
  }
});

test("what is cut off at the start is in the log, with the file and the bytes", async (context) => {
  const { letters, reopen, file, lines } = await setUp(context);
  await letters.keep([letter("a"), letter("b")]);
  const whole = await readFile(file);
  await writeFile(file, whole.subarray(0, -10));

  const next = reopen();
  await next.start();
  await next.stop();

  const bytes = whole.length - 10 - (whole.indexOf(10) + 1);
  const message = "an incomplete end of dead letters was cut off";
  assert.deepEqual(lines, [{ level: "warn", fields: { sink: "s/1", bytes, file }, message }]);
});

test("a file or folder that somebody put beside the letters is none of a sink", async (context) => {
  const { letters, reopen, file } = await setUp(context);
  await letters.keep([letter("a")]);
  for (const name of ["100%.ndjson", "s 1 (copy).ndjson", "%731.ndjson"])
    await writeFile(join(dirname(file), name), "{}");
  await mkdir(join(dirname(file), "folder.ndjson"));

  const next = reopen();
  await next.start();

  assert.deepEqual(await next.sinks(), ["s/1"]);
  assert.deepEqual(await openIds(next), ["a waiting"]);
});

test("a letter that is kept while the file is rewritten is whole, though a failing disk left a part of another", async (context) => {
  const { letters, reopen, file } = await setUp(context);
  await letters.keep([letter("a"), letter("b")]);
  await letters.mark("s/1", ["a"], "dropped");
  const { append, truncate } = await tornAppends(context, file);
  await assert.rejects(letters.keep([letter("c")]), { code: "DEAD_LETTERS_UNWRITABLE" });
  append.restore();
  truncate.restore();

  const compacted = letters.compact("s/1");
  // Its turns at the file come after those of the rewriting: what is kept next comes while the new file is being filled.
  for (let turn = 0; turn < 3; turn += 1) await letters.entry("s/1", "a");
  await letters.keep([letter("c")]);
  await compacted;

  assert.deepEqual(await openIds(reopen()), ["b waiting", "c waiting"]);
});

test("a start counts letters without parsing their events", async (context) => {
  const { letters, reopen } = await setUp(context);
  const large = { headers: {}, body: { text: `"event":{"headers":{ ${"x".repeat(20_000)}` } };
  await letters.keep(["a", "b", "c"].map((id) => ({ ...letter(id), event: large })));
  const parse = context.mock.method(JSON, "parse");

  const next = reopen();
  await next.start();
  const parsed = parse.mock.calls.reduce((sum, { arguments: [text] }) => sum + text.length, 0);
  await next.stop();

  assert.deepEqual(
    next.counts().map(({ waiting }) => waiting),
    [3],
  );
  assert.ok(parsed > 0 && parsed < 5000, `${parsed} characters were parsed`);
});

test("a start reads what stands behind the event of a letter, and finds damage there", async (context) => {
  const { letters, reopen, lines, file } = await setUp(context);
  await letters.keep([letter("a")]);
  const line = (await readFile(file, "utf8")).trimEnd();
  const replayed = { ...letter("b"), replays: 2, shared: { log: "l", offset: 7, agent: "r" } };
  const zeros = line.replace("x".repeat(100), "\0".repeat(100));
  await writeFile(file, [line, JSON.stringify(replayed), zeros, line.slice(0, -1), `${line}}`, ""].join("\n"));

  const next = reopen();
  await next.start();
  await next.stop();

  assert.deepEqual(await openIds(next), ["a waiting", "b waiting"]);
  assert.equal((await next.entry("s/1", "b"))?.replays, 2);
  const unreadable = lines.find(({ message }) => message === "dead letters that cannot be read stay");
  assert.equal(Reflect.get(unreadable?.fields ?? {}, "lines"), 3);
});
