import assert from "node:assert/strict";
import { copyFile, readdir, readFile, rename, rm, truncate, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { crc32 } from "node:zlib";
import { codeOf } from "../../../core/sdk/index.js";
import { drain, put, take, upTo } from "../../../core/testing/channel-fixture.js";
import { tempFolder } from "../../support/temp-folder.js";
import { channelIn, copyOf, dataFolder, openIn } from "./channel-folder.js";

/** Two runs of a channel, the first one killed: ten events each, two in each put and file, the first two committed. */
async function twoRuns(context: TestContext, end: "closed" | "killed"): Promise<string> {
  const folder = await tempFolder(context);
  const small = { maxFileSize: 100 };
  const first = await openIn(path.join(folder, "first"), small);
  context.after(() => first.channel.stop());
  for (const body of [0, 2, 4, 6, 8]) await put(first.channel, body, body + 1);
  await (await take(first.channel, 2)).transaction.commit();
  await copyOf(path.join(folder, "first"), path.join(folder, "second"));
  const second = await openIn(path.join(folder, "second"), small);
  context.after(() => second.channel.stop());
  for (const body of [10, 12, 14, 16, 18]) await put(second.channel, body, body + 1);
  if (end === "closed") await second.channel.stop();
  return await copyOf(path.join(folder, "second"), path.join(folder, "done"));
}

const checkpointOf = (folder: string) => path.join(folder, "channels", "c1", "checkpoint", "checkpoint");

async function filesOf(folder: string): Promise<readonly string[]> {
  const names = (await readdir(dataFolder(folder))).filter((name) => name.endsWith(".log")).sort();
  return names.map((name) => path.join(dataFolder(folder), name));
}

/** Opens a channel and takes everything; what it delivers, and how many events its errors and its counter call lost. */
async function judged(folder: string) {
  const { channel, lines } = await openIn(folder);
  const bodies = await drain(channel, 100);
  const { lost } = channel;
  await channel.stop();
  const again = await openIn(folder);
  assert.equal(again.channel.lost, 0, "what was reported once is not reported again");
  assert.equal(again.channel.size, 0);
  await again.channel.stop();
  const errors = lines.filter(({ level }) => level === "error");
  const counted = errors.flatMap(({ fields }) => ("events" in fields ? [Number(fields.events)] : []));
  return { bodies, lost, errors, reported: counted.reduce((sum, events) => sum + events, 0) };
}

const expected = upTo(20).slice(2);

/** Every accepted event is delivered once, or in the errors and the counter of lost events. */
async function nothingSilent(folder: string, what: string, isReported = true) {
  const { bodies, lost, errors, reported } = await judged(folder);
  const message = `${what}: ${bodies} ${JSON.stringify(errors)}`;
  assert.deepEqual(bodies, [...new Set(bodies)], message);
  assert.deepEqual(
    bodies,
    expected.filter((body) => bodies.includes(body)),
    message,
  );
  if (!isReported) return { bodies, lost };
  assert.equal(lost, expected.length - bodies.length, message);
  assert.equal(reported, lost, message);
  return { bodies, lost };
}

for (const end of ["closed", "killed"] as const) {
  test(`a channel that was ${end} and not touched misses nothing`, async (context) => {
    assert.deepEqual(await nothingSilent(await twoRuns(context, end), end), { bodies: expected, lost: 0 });
  });

  test(`of a channel that was ${end} each file that is removed, emptied or replaced is reported with its events`, async (context) => {
    const folder = await twoRuns(context, end);
    const files = await filesOf(folder);
    assert.equal(files.length, 9);
    const foreign = await tempFolder(context);
    const other = await openIn(foreign);
    await put(other.channel, 77);
    await other.channel.stop();
    const [foreignFile = ""] = await filesOf(foreign);
    const acts: readonly (readonly [string, (file: string) => Promise<unknown>])[] = [
      ["removed", unlink],
      ["renamed to no number", (file) => rename(file, `${file}.bak`)],
      ["emptied", (file) => truncate(file, 0)],
      ["cut to its header", (file) => truncate(file, 24)],
      ["replaced by a file of another channel", (file) => copyFile(foreignFile, file)],
    ];
    for (const [index, file] of files.entries())
      for (const [what, act] of acts) {
        const copy = await copyOf(folder, path.join(folder, "..", "copy"));
        await act(path.join(dataFolder(copy), path.basename(file)));

        const { lost } = await nothingSilent(copy, `${what}: file ${index}`);

        assert.equal(lost, 2, `${what}: file ${index}`);
        await rm(copy, { recursive: true });
      }
  });

  test(`of a channel that was ${end} a file that is cut at any byte is reported with its events`, async (context) => {
    const folder = await twoRuns(context, end);
    for (const [index, file] of (await filesOf(folder)).entries()) {
      const { length } = await readFile(file);
      for (let at = 0; at < length; at += 13) {
        const copy = await copyOf(folder, path.join(folder, "..", "copy"));
        await truncate(path.join(dataFolder(copy), path.basename(file)), at);

        await nothingSilent(copy, `file ${index} cut at ${at}`);

        await rm(copy, { recursive: true });
      }
    }
  });

  test(`of a channel that was ${end} files that changed names lose nothing`, async (context) => {
    const folder = await twoRuns(context, end);
    const names = (await filesOf(folder)).map((file) => path.basename(file));
    const [first = "", second = "", third = ""] = names;
    const at = (copy: string, name: string) => path.join(dataFolder(copy), name);
    const acts: readonly (readonly [string, (copy: string) => Promise<unknown>])[] = [
      [
        "swapped",
        async (copy) => {
          await rename(at(copy, first), at(copy, "x"));
          await rename(at(copy, third), at(copy, first));
          await rename(at(copy, "x"), at(copy, third));
        },
      ],
      [
        "swapped over a restart",
        async (copy) => {
          await rename(at(copy, first), at(copy, "x"));
          await rename(at(copy, names.at(-1) ?? ""), at(copy, first));
          await rename(at(copy, "x"), at(copy, names.at(-1) ?? ""));
        },
      ],
      ["renamed to a high number", (copy) => rename(at(copy, second), at(copy, "999999999999999.log"))],
      ["renamed to zero", (copy) => rename(at(copy, third), at(copy, "000000000000000.log"))],
      ["copied", (copy) => copyFile(at(copy, second), at(copy, "000000000000999.log"))],
    ];
    for (const [what, act] of acts) {
      const copy = await copyOf(folder, path.join(folder, "..", "copy"));
      await act(copy);

      const { bodies, lost, errors } = await judged(copy);

      assert.deepEqual({ bodies, lost }, { bodies: expected, lost: 0 }, what);
      assert.ok(errors.length > 0, what);
      await rm(copy, { recursive: true });
    }
  });

  test(`without its checkpoint a channel that was ${end} reports what is missing between its files`, async (context) => {
    const folder = await twoRuns(context, end);
    const files = await filesOf(folder);
    for (const [index, file] of files.entries()) {
      const copy = await copyOf(folder, path.join(folder, "..", "copy"));
      await unlink(checkpointOf(copy));
      await unlink(path.join(dataFolder(copy), path.basename(file)));

      const { bodies, lost, reported } = await judged(copy);

      const missing = expected.filter((body) => !bodies.includes(body));
      const outermost = index === 0 || index === files.length - 1;
      assert.equal(missing.length, 2, `file ${index}`);
      assert.equal(reported, outermost ? 0 : 2, `file ${index}`);
      // They may have been stored.
      assert.equal(lost, 0, `file ${index}`);
      await rm(copy, { recursive: true });
    }
  });
}

test("all files of a closed channel that are gone are reported with their number", async (context) => {
  const folder = await twoRuns(context, "closed");
  for (const file of await filesOf(folder)) await unlink(file);

  assert.deepEqual(await nothingSilent(folder, "all"), { bodies: [], lost: 18 });
});

test("a file of a newer version ends the start, is named with both versions, and nothing changes", async (context) => {
  const folder = await twoRuns(context, "killed");
  const [, file = ""] = await filesOf(folder);
  const bytes = await readFile(file);
  bytes.writeUInt32LE(4, 8);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 20)), 20);
  await writeFile(file, bytes);
  const before = await readFile(checkpointOf(folder));
  const { channel } = channelIn(folder);

  await assert.rejects(channel.start(), (error: Error) => {
    assert.equal(codeOf(error), "CHANNEL_OF_NEWER_VERSION");
    assert.ok(
      error.message.includes(`opening "${file}": it has version 4 of its format, and this agent reads version 3;`),
    );
    return true;
  });
  await channel.stop();

  assert.deepEqual(await readFile(checkpointOf(folder)), before);
  assert.equal((await filesOf(folder)).length, 9);
});

test("a file of damaged records with numbers far apart is read without counting through them", async (context) => {
  const folder = await twoRuns(context, "killed");
  const files = await filesOf(folder);
  const [first = "", last = ""] = [files[0], files.at(-1)];
  await writeFile(first, Buffer.concat([await readFile(first), (await readFile(last)).subarray(24)]));

  const { channel } = await openIn(folder);
  await drain(channel, 100);
  await channel.stop();
});
