import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat, symlink } from "node:fs/promises";
import { hostname } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { codeOf } from "../../../core/sdk/index.js";
import { put } from "../../../core/testing/channel-fixture.js";
import { tempFolder } from "../../support/temp-folder.js";
import { channelIn, dataFolder, openIn } from "./channel-folder.js";

const child = fileURLToPath(new URL("./crash-child.js", import.meta.url));

test("the folder of a running process is refused with its name and the other's pid, and taken over when that one died", async (context) => {
  const folder = await tempFolder(context);
  const other = spawn(process.execPath, [child, folder], { stdio: ["ignore", "pipe", "inherit"] });
  context.after(() => other.kill("SIGKILL"));
  for await (const line of createInterface({ input: other.stdout })) if (line.startsWith("put ")) break;
  const second = channelIn(folder).channel;

  await assert.rejects(second.start(), (error: Error) => {
    assert.equal(codeOf(error), "FOLDER_IN_USE");
    assert.ok(error.message.includes(path.join(folder, "channels", "c1")), error.message);
    assert.ok(error.message.includes(`pid ${other.pid} `), error.message);
    assert.match(error.message, /folders of its own .* with checkpointDir and dataDirs$/);
    return true;
  });
  await second.stop();
  other.kill("SIGKILL");
  await once(other, "exit");

  const { channel } = await openIn(folder);
  const before = channel.size;
  await put(channel, 1);
  assert.equal(channel.size, before + 1);
  await channel.stop();
});

test("two channels of one process cannot share a folder", async (context) => {
  const folder = await tempFolder(context);
  const { channel } = await openIn(folder);
  const second = channelIn(folder).channel;

  await assert.rejects(second.start(), (error) => codeOf(error) === "FOLDER_IN_USE");
  await second.stop();
  await put(channel, 1);
  await channel.stop();
});

const stale = [
  { title: "of a process that is gone", lock: `4194304,1,${hostname()}` },
  { title: "whose number another process has now", lock: `${process.pid},1,${hostname()}` },
  { title: "of another host", lock: "1,1,another-host" },
  { title: "that makes no sense", lock: "-1" },
] as const;
for (const { title, lock } of stale)
  test(`the lock of an earlier version ${title} is removed`, async (context) => {
    const folder = await tempFolder(context);
    await (await openIn(folder)).channel.stop();
    await symlink(lock, path.join(dataFolder(folder), "in_use.lock"));

    const { channel } = await openIn(folder);
    await put(channel, 1);
    await channel.stop();

    assert.deepEqual(
      (await readdir(dataFolder(folder))).filter((name) => name.includes("lock")),
      ["deneb.lock"],
    );
  });

test("the folder of an agent of an earlier version that still runs is refused", async (context) => {
  const folder = await tempFolder(context);
  await (await openIn(folder)).channel.stop();
  const line = await readFile(`/proc/${process.pid}/stat`, "utf8").catch(() => "");
  const start = line.slice(line.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  await symlink(`${process.pid},${start},${hostname()}`, path.join(dataFolder(folder), "in_use.lock"));
  const { channel } = channelIn(folder);

  await assert.rejects(channel.start(), (error: Error) => {
    assert.equal(codeOf(error), "FOLDER_IN_USE");
    assert.match(error.message, new RegExp(`pid ${process.pid}, an agent of an earlier version; stop that one first$`));
    return true;
  });
  await channel.stop();
});

test("every file and folder of a channel is for its owner alone, whatever the umask says", async (context) => {
  const folder = await tempFolder(context);
  const before = process.umask(0);
  context.after(() => process.umask(before));
  const { channel } = await openIn(folder);
  await put(channel, 1);
  await channel.stop();

  const names = await readdir(path.join(folder, "channels"), { recursive: true });
  for (const name of names) {
    const { mode } = await stat(path.join(folder, "channels", name));
    assert.equal(mode & 0o077, 0, `${name} ${mode.toString(8)}`);
  }
  assert.ok(names.length > 4);
});
