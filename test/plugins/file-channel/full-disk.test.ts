import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { codeOf, retryableOf } from "../../../core/sdk/index.js";
import { drain, never, numbered, put, upTo } from "../../../core/testing/channel-fixture.js";
import { DiskState } from "../../../plugins/file-channel/log/disk-state.js";
import { type OpenFile, openNewFile } from "../../../plugins/file-channel/log/files.js";
import { positionOf } from "../../support/position.js";
import { recordingLog } from "../../support/recording-log.js";
import { tempFolder } from "../../support/temp-folder.js";
import { until } from "../../support/until.js";
import { channelIn, contents, copyOf, dataFolder, openIn } from "./channel-folder.js";

/** A disk that fails on request: at opening a file, in the middle of a write, or at making it durable. */
class FailingDisk {
  failing: "open" | "write" | "sync" | "close" | undefined;

  readonly openFile: OpenFile = async (file) => {
    if (this.failing === "open") throw noSpace();
    const handle = await openNewFile(file);
    return {
      write: async (bytes, offset, length, position) => {
        if (this.failing !== "write") return await handle.write(bytes, offset, length, position);
        await handle.write(bytes, offset, Math.floor(length / 2), position);
        throw noSpace();
      },
      datasync: async () => {
        if (this.failing === "sync") throw noSpace();
        await handle.datasync();
      },
      truncate: (length) => handle.truncate(length),
      close: async () => {
        await handle.close();
        if (this.failing === "close") throw noSpace();
      },
    };
  };
}

function noSpace(): Error {
  return Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
}

for (const failing of ["open", "write", "sync"] as const)
  test(`a disk that fails at ${failing} refuses the put with a retryable error and a log line, and recovers by itself`, async (context) => {
    const folder = await tempFolder(context);
    const disk = new FailingDisk();
    const { channel, lines } = await openIn(folder, {}, disk.openFile);
    if (failing !== "open") await put(channel, 0, 1);

    disk.failing = failing;
    for (const body of [100, 101]) {
      await assert.rejects(put(channel, body), (error: Error) => {
        assert.equal(codeOf(error), "CHANNEL_FULL");
        assert.equal(retryableOf(error), true);
        assert.match(error.message, /^writing events of channel "c1" to disk/);
        assert.ok(!error.message.includes(folder));
        return true;
      });
    }
    const sizeWhileFailing = channel.size;
    disk.failing = undefined;
    await put(channel, 2, 3);
    await channel.stop();

    const expected = failing === "open" ? [2, 3] : [0, 1, 2, 3];
    assert.equal(sizeWhileFailing, expected.length - 2);
    assert.deepEqual((await contents(folder)).bodies, expected);
    assert.deepEqual(lines.find(({ level }) => level === "error")?.fields, {
      folders: [dataFolder(folder)],
      reason: "ENOSPC: no space left on device, write",
    });
    assert.deepEqual(
      lines.map(({ level, message }) => [level, message]).filter(([, message]) => message !== "channel opened"),
      [
        ["error", "events cannot be written"],
        ["info", "events are written again"],
      ],
    );
  });

test("a disk that is nearly full, and takes some events and refuses others, is logged once a minute", () => {
  const { log, lines } = recordingLog();
  let now = 0;
  const disk = new DiskState("c1", ["data"], log, () => now);
  const flutter = () => {
    for (let flip = 0; flip < 100; flip += 1) {
      disk.failed(noSpace());
      disk.succeeded();
    }
  };

  flutter();
  now = 59_999;
  flutter();
  disk.failed(noSpace());
  now = 60_000;
  disk.failed(noSpace());

  const [failure, recovery] = ["events cannot be written", "events are written again"];
  assert.deepEqual(
    lines.map(({ message }) => message),
    [failure, recovery, failure],
  );
});

test("a file that fails when it is closed refuses no put, and a stop saves what is done and releases the folders", async (context) => {
  const folder = await tempFolder(context);
  const disk = new FailingDisk();
  const { channel } = await openIn(folder, { maxFileSize: 100 }, disk.openFile);
  disk.failing = "close";

  for (const body of [0, 1, 2]) await put(channel, body);
  const take = channel.openTake();
  await take.take(2, never);
  await take.commit();
  await channel.stop();
  const again = await openIn(folder);
  const warnings = again.lines.filter(({ level }) => level !== "info");
  await again.channel.stop();

  assert.deepEqual((await contents(folder)).bodies, [2]);
  assert.deepEqual(warnings, []);
});

test("a full file system refuses puts, lets takes go on, starts again while full, and recovers when there is room", async (context) => {
  const folder = await smallFileSystem(context);
  if (folder === undefined) return;
  const { channel } = await openIn(folder, { byteCapacity: 1_000_000_000 });
  const padding = "x".repeat(20_000);
  let accepted = 0;
  const fill = async (): Promise<unknown> => {
    for (;;) {
      const transaction = channel.openPut();
      transaction.put({ headers: {}, body: { id: accepted, padding } });
      try {
        await transaction.commit();
      } catch (error) {
        return codeOf(error);
      }
      accepted += 1;
    }
  };

  assert.equal(await fill(), "CHANNEL_FULL");
  await channel.stop();
  const again = (await openIn(folder)).channel;
  assert.equal(again.size, accepted);
  const seen: unknown[] = [];
  for (let round = 0; round < 10; round += 1) {
    const transaction = again.openTake();
    const events = await transaction.take(8, never);
    seen.push(...events.map(({ body }) => Reflect.get(Object(body), "id")));
    await transaction.commit();
  }
  const after = again.openPut();
  after.put(numbered(1));
  await after.commit();

  assert.deepEqual(seen, upTo(seen.length));
  assert.equal(again.size, accepted - seen.length + 1);
  assert.ok((await readdir(dataFolder(folder))).length > 1);
  await again.stop();
});

test("a new channel on a full disk names the file and the remedy, and starts when there is room", async (context) => {
  const folder = await smallFileSystem(context);
  if (folder === undefined) return;
  const filler = path.join(folder, "filler");
  await writeFile(filler, Buffer.alloc(2 * 1024 * 1024)).catch(() => undefined);

  const { channel: first } = channelIn(folder);
  await assert.rejects(first.start(), {
    code: "FOLDER_UNUSABLE",
    message:
      /making the checkpoint ".*checkpoint" \(free 64 KiB there, or set checkpointDir to a folder on another disk\)$/,
  });
  await first.stop();
  await rm(filler);
  const { channel } = await openIn(folder);
  await put(channel, 1);
  await channel.stop();

  assert.deepEqual((await contents(folder)).bodies, [1]);
});

/** A file system of two megabytes; without the right to make one the test is skipped. */
async function smallFileSystem(context: TestContext): Promise<string | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), "deneb-test-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    await rmdir(folder);
    context.skip("only root may mount a small file system");
    return undefined;
  }
  context.after(async () => {
    execFileSync("umount", ["-l", folder]);
    await rmdir(folder);
  });
  return folder;
}

test("a position that covers the numbers of a put that failed is known as the channel's own after a kill", async (context) => {
  const folder = await tempFolder(context);
  const [live, killed] = [path.join(folder, "live"), path.join(folder, "killed")];
  const disk = new FailingDisk();
  const { channel } = await openIn(live, {}, disk.openFile);
  await put(channel, 0, 1);
  const taken = channel.openTake();
  await taken.take(2, never);
  disk.failing = "write";
  await assert.rejects(put(channel, 100, 101));
  const position = String(positionOf(taken));
  await copyOf(live, killed);

  const { channel: again } = await openIn(killed);
  const skipped = await again.skipTo(position);

  assert.match(position, /:4$/);
  assert.deepEqual([skipped, again.size], [2, 0]);
  await Promise.all([channel.stop(), again.stop()]);
});

for (const failing of ["open", "write", "sync"] as const)
  test(`numbers of puts that a disk refused at ${failing} are not taken for lost events after a kill`, async (context) => {
    const folder = await tempFolder(context);
    const live = path.join(folder, "live");
    const disk = new FailingDisk();
    const { channel } = await openIn(live, { maxFileSize: 100 }, disk.openFile);
    context.after(() => channel.stop());
    const kills: string[] = [];
    const kill = async () => kills.push(await copyOf(live, path.join(folder, `killed-${kills.length}`)));
    for (const body of [0, 2, 4]) {
      await put(channel, body, body + 1);
      await kill();
      disk.failing = failing;
      await assert.rejects(put(channel, 100, 101, 102));
      await assert.rejects(put(channel, 103));
      await kill();
      disk.failing = undefined;
    }

    for (const copy of kills) {
      const again = await openIn(copy);
      const errors = again.lines.filter(({ level }) => level === "error");
      assert.deepEqual({ lost: again.channel.lost, errors }, { lost: 0, errors: [] }, copy);
      await again.channel.stop();
    }
  });

test("numbers of a put that a disk refused are not taken for lost events by a start after a kill in the middle of the next put", async (context) => {
  const folder = await tempFolder(context);
  const [live, killed] = [path.join(folder, "live"), path.join(folder, "killed")];
  const disk = new FailingDisk();
  let killing = false;
  const { channel } = await openIn(live, {}, async (file) => {
    const opened = await disk.openFile(file);
    return {
      ...opened,
      write: async (...bytes) => {
        const written = await opened.write(...bytes);
        if (killing) await copyOf(live, killed);
        return written;
      },
    };
  });
  context.after(() => channel.stop());
  await put(channel, 0, 1);
  disk.failing = "write";
  await assert.rejects(put(channel, 100, 101, 102));
  disk.failing = undefined;

  killing = true;
  await put(channel, 2);
  killing = false;
  const again = await openIn(killed);
  const errors = again.lines.filter(({ level }) => level === "error");
  await again.channel.stop();

  assert.deepEqual({ size: again.channel.size, lost: again.channel.lost, errors }, { size: 3, lost: 0, errors: [] });
});

test("a file that cannot be removed is logged once, keeps no other file, and no line says that the checkpoint is not written", async (context) => {
  const folder = await tempFolder(context);
  const { channel, lines } = await openIn(folder, { maxFileSize: 1024 });
  const shown = () =>
    lines.flatMap(({ level, message }) => (/checkpoint|remove/.test(message) ? [`${level} ${message}`] : []));
  for (const body of upTo(100)) await put(channel, body, body);
  const files = async () => (await readdir(dataFolder(folder))).filter((name) => name.endsWith(".log")).toSorted();
  const [first = "", second = ""] = await files();
  const segment = path.join(dataFolder(folder), first);
  const take = channel.openTake();
  const taken = await take.take(150, never);
  await rename(segment, `${segment}.aside`);
  await mkdir(path.join(segment, "in the way"), { recursive: true });

  await take.commit();
  await until(
    async () => shown(),
    ({ length }) => length > 0,
  );
  const kept = await files();
  await rm(segment, { recursive: true });
  await rename(`${segment}.aside`, segment);
  await drain(channel, 100);
  await channel.stop();

  assert.equal(taken.length, 150);
  assert.deepEqual([kept.includes(first), kept.includes(second)], [true, false]);
  assert.deepEqual(shown(), [
    "error a file whose events are stored cannot be removed",
    "info files whose events are stored are removed again",
  ]);
});
