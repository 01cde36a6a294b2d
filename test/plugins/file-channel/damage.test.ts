import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdir, readFile, rename, rm, truncate, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { drain, numbered, put, take, upTo } from "../../../core/testing/channel-fixture.js";
import { HEADER_BYTES } from "../../../plugins/file-channel/log/records.js";
import { tempFolder } from "../../support/temp-folder.js";
import { contents, copyOf, dataFolder, openIn } from "./channel-folder.js";

/** A record begins with its header and the text `{"headers":{"fiware-service":"s"},`. */
const TEXT_BEFORE_BODY = JSON.stringify(numbered(0)).indexOf('"body"');

/** The folder of a channel that was killed while it held the events 0 to 11, put by two and four, 0 and 1 committed. */
async function killed(context: TestContext): Promise<string> {
  const folder = await tempFolder(context);
  const { channel } = await openIn(path.join(folder, "live"));
  context.after(() => channel.stop());
  for (const bodies of [
    [0, 1],
    [2, 3],
    [4, 5, 6, 7],
    [8, 9, 10, 11],
  ])
    await put(channel, ...bodies);
  await (await take(channel, 2)).transaction.commit();
  return await copyOf(path.join(folder, "live"), path.join(folder, "killed"));
}

async function onlySegment(folder: string): Promise<string> {
  const [name = ""] = await readdir(dataFolder(folder));
  return path.join(dataFolder(folder), name);
}

test("a channel that was killed has what was put and not committed", async (context) => {
  const { bodies } = await contents(await killed(context));

  assert.deepEqual(bodies, upTo(12).slice(2));
});

test("a file that was cut off at any byte holds the complete transactions before it, and the channel starts", async (context) => {
  const folder = await killed(context);
  const copy = path.join(folder, "..", "copy");
  const file = await onlySegment(folder);
  const bytes = await readFile(file);
  // Where the events 1, 3, 7 and 11 end: each is the last one of its put.
  const ends = ['"body":2', '"body":4', '"body":8'].map(
    (next) => bytes.indexOf(next) - TEXT_BEFORE_BODY - HEADER_BYTES,
  );
  ends.push(bytes.length);

  for (let length = 0; length <= bytes.length; length += 1) {
    await copyOf(folder, copy);
    await truncate(path.join(dataFolder(copy), path.basename(file)), length);

    const { bodies } = await contents(copy);

    const whole = ends.filter((end) => end <= length).length;
    assert.deepEqual(
      bodies,
      [
        [2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
      ]
        .slice(0, Math.max(0, whole - 1))
        .flat(),
      `cut at ${length}`,
    );
    await rm(copy, { recursive: true });
  }
});

test("a byte that changed costs the event it is in and no other, is reported, and the channel starts", async (context) => {
  const folder = await killed(context);
  const copy = path.join(folder, "..", "copy");
  const file = await onlySegment(folder);
  const bytes = await readFile(file);

  for (let at = 0; at < bytes.length; at += 3) {
    await copyOf(folder, copy);
    const changed = Buffer.from(bytes);
    changed[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
    await writeFile(path.join(dataFolder(copy), path.basename(file)), changed);

    const { bodies, lines } = await contents(copy);

    const missing = upTo(12)
      .slice(2)
      .filter((body) => !bodies.includes(body));
    assert.ok(missing.length <= 1, `byte ${at}: missing ${missing}`);
    assert.deepEqual(
      bodies,
      upTo(12)
        .slice(2)
        .filter((body) => !missing.includes(body)),
      `byte ${at}`,
    );
    assert.equal(
      lines.some(({ message }) => /damaged/.test(message)),
      missing.length > 0,
      `byte ${at}: ${JSON.stringify(lines)}`,
    );
    await rm(copy, { recursive: true });
  }
});

test("a changed byte in a file that was closed in good order costs one event, reported with file and number", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder);
  await put(channel, 0, 1, 2, 3, 4);
  await channel.stop();
  const file = await onlySegment(folder);
  const bytes = await readFile(file);
  bytes[bytes.indexOf('"body":2') + 7] = 0x39;
  await writeFile(file, bytes);

  const { bodies, lines } = await contents(folder);

  assert.deepEqual(bodies, [0, 1, 3, 4]);
  assert.deepEqual(
    lines.filter(({ level }) => level === "error"),
    [{ level: "error", fields: { file, from: 3, to: 3, events: 1 }, message: "damaged events left out" }],
  );
});

test("a damaged checkpoint delivers at most the last commit again", async (context) => {
  const folder = await killed(context);
  const copy = path.join(folder, "..", "copy");
  const checkpoint = path.join("channels", "c1", "checkpoint", "checkpoint");
  const bytes = await readFile(path.join(folder, checkpoint));

  for (const at of [0, 5, 20, 32_768, 32_773, 32_790]) {
    await copyOf(folder, copy);
    const changed = Buffer.from(bytes);
    changed[at] = (bytes[at] ?? 0) ^ 0xff;
    await writeFile(path.join(copy, checkpoint), changed);

    const { bodies } = await contents(copy);

    assert.ok(bodies.length === 10 || bodies.length === 12, `byte ${at}`);
    assert.deepEqual(bodies.slice(-10), upTo(12).slice(2), `byte ${at}`);
    await rm(copy, { recursive: true });
  }
});

test("without its checkpoint a channel delivers everything that is in its files, and says so", async (context) => {
  const folder = await killed(context);
  await unlink(path.join(folder, "channels", "c1", "checkpoint", "checkpoint"));

  const { bodies, lines } = await contents(folder);

  assert.deepEqual(bodies, upTo(12));
  assert.ok(lines.some(({ level, message }) => level === "error" && message.startsWith("checkpoint lost")));
});

test("a file that was removed while the channel runs costs its events, is reported, and the channel goes on", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder, { maxFileSize: 200 });
  for (const body of upTo(12)) await put(channel, body);
  await channel.stop();
  const again = await openIn(folder);
  const [, second = "", third = ""] = (await readdir(dataFolder(folder))).sort();
  await unlink(path.join(dataFolder(folder), second));

  const bodies = await drain(again.channel, 100);
  await again.channel.stop();

  // A file is named after the number of its first event, which is one more than its body.
  const removed = { from: Number.parseInt(second, 10), to: Number.parseInt(third, 10) - 1 };
  assert.deepEqual(
    bodies,
    upTo(12).filter((body) => body + 1 < removed.from || body + 1 > removed.to),
  );
  assert.ok(again.lines.some(({ message }) => message === "damaged events left out"));
});

test("a pipe in place of a file of events does not hold up a start, and is named; the events come when the file is back", async (context) => {
  const folder = await killed(context);
  const file = await onlySegment(folder);
  const bytes = await readFile(file);
  await unlink(file);
  execFileSync("mkfifo", [file]);

  const without = await contents(folder);
  await unlink(file);
  await writeFile(file, bytes);
  const back = await contents(folder);

  assert.deepEqual([without.bodies, back.bodies], [[], upTo(12).slice(2)]);
  const named = without.lines.find(({ message }) => message === "segment left alone: it cannot be read");
  assert.match(JSON.stringify(named?.fields), /a pipe, a socket or a device has the place of a file/);
});

test("a pipe that takes the place of a file of events while the channel runs fails takes, until the file is back", async (context) => {
  const folder = await killed(context);
  const file = await onlySegment(folder);
  const { channel } = await openIn(folder);
  context.after(() => channel.stop());
  await rename(file, `${file}.away`);
  execFileSync("mkfifo", [file]);

  await assert.rejects(take(channel, 1), { code: "NOT_A_FILE" });
  await rename(`${file}.away`, file);

  assert.deepEqual(await drain(channel, 1000), upTo(12).slice(2));
});
