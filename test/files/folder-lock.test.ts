import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { lockFolder } from "../../core/files/folder-lock.js";
import { codeOf } from "../../core/sdk/index.js";
import { smallDisk } from "../crash/small-disk.js";
import { freeze } from "../support/freeze.js";
import { recordingLog } from "../support/recording-log.js";
import { tempFolder } from "../support/temp-folder.js";
import { lockProcess } from "./lock-process.js";

const run = promisify(execFile);

const lock = (folder: string, seconds = 0) => lockFolder(folder, {}, { seconds, log: recordingLog().log });
const inUse = (error: unknown) => codeOf(error) === "FOLDER_IN_USE";

test("a folder that another process holds is refused with its name and its holder", async (context) => {
  const folder = await tempFolder(context);
  const other = lockProcess(context, folder);
  assert.equal(await other.says(), "locked");

  await assert.rejects(lock(folder), (error: Error) => {
    assert.ok(inUse(error));
    assert.match(
      error.message,
      new RegExp(`^folder "${folder}" is in use by another process \\(pid ${other.process.pid} `),
    );
    return true;
  });
});

test("kill -9 frees a folder at once", async (context) => {
  const folder = await tempFolder(context);
  const other = lockProcess(context, folder);
  assert.equal(await other.says(), "locked");

  await other.kill();

  await (await lock(folder)).release();
});

test("a process that is stopped by SIGSTOP keeps its folder", async (context) => {
  const folder = await tempFolder(context);
  const other = lockProcess(context, folder);
  assert.equal(await other.says(), "locked");

  await freeze(other.process);

  await assert.rejects(lock(folder), inUse);
});

const namespaces = ["unshare", "--pid", "--uts", "--fork", "--kill-child"] as const;

test("another host name and other process numbers make no difference", async (context) => {
  const able = await run("unshare", [...namespaces.slice(1), "true"]).then(
    () => true,
    () => false,
  );
  if (!able) return context.skip("needs the right to make namespaces");
  const folder = await tempFolder(context);
  const held = await lock(folder);
  const under = [...namespaces, "sh", "-c", 'hostname another && exec "$0" "$@"'];

  assert.match(await lockProcess(context, folder, { under }).says(), /^FOLDER_IN_USE /);

  await held.release();
  const contained = lockProcess(context, folder, { under });
  assert.equal(await contained.says(), "locked");
  await assert.rejects(lock(folder), (error: Error) => inUse(error) && error.message.includes("on host another"));
});

test("a waiting process gets the folder as soon as it is released, and logs once that it waits", async (context) => {
  const folder = await tempFolder(context);
  const held = await lock(folder);
  const other = lockProcess(context, folder, { seconds: 60 });
  assert.equal(await other.says(), "waiting");

  await held.release();

  assert.equal(await other.says(), "locked");
});

test("a wait ends with its signal", async (context) => {
  const folder = await tempFolder(context);
  const other = lockProcess(context, folder);
  assert.equal(await other.says(), "locked");
  const stop = new AbortController();
  const log = { warn: () => stop.abort() };

  await assert.rejects(
    lockFolder(folder, { signal: stop.signal }, { seconds: 600, log }),
    (error) => codeOf(error) === "LOCK_WAIT_ENDED",
  );
});

test("of processes that start at once exactly one gets the folder, every time", async (context) => {
  const folder = await tempFolder(context);
  for (let round = 0; round < 10; round += 1) {
    const all = Array.from({ length: 4 }, () => lockProcess(context, folder));

    const said = await Promise.all(all.map((one) => one.says()));

    assert.equal(said.filter((line) => line === "locked").length, 1, said.join("\n"));
    assert.equal(said.filter((line) => line.startsWith("FOLDER_IN_USE")).length, 3, said.join("\n"));
    for (const one of all) await one.kill();
  }
});

test("one process holds a folder once, by whatever name, and its failed second attempt does not free it", async (context) => {
  const folder = await tempFolder(context);
  const inner = path.join(folder, "inner");
  const held = await lock(inner);
  await symlink(inner, path.join(folder, "alias"));

  await assert.rejects(lock(path.join(folder, "alias")), inUse);
  await assert.rejects(lock(inner, 600), inUse);

  assert.match(await lockProcess(context, inner).says(), /^FOLDER_IN_USE /);
  await held.release();
  await held.release();
  await (await lock(inner)).release();
});

test("a folder whose files cannot be made private is free again", async (context) => {
  const folder = await tempFolder(context);
  await writeFile(path.join(folder, "file"), "");
  const owns = () => {
    throw new Error("no such thing");
  };

  await assert.rejects(lockFolder(folder, { owns }, { seconds: 0, log: recordingLog().log }), /no such thing/);

  const other = lockProcess(context, folder);
  assert.equal(await other.says(), "locked");
});

test("a lock that is no longer referred to is not collected as garbage", async (context) => {
  const folder = await tempFolder(context);
  const collect = lockProcess(context, folder, { flags: ["--expose-gc"] });
  assert.equal(await collect.says(), "locked");

  for (let attempt = 0; attempt < 3; attempt += 1) await assert.rejects(lock(folder), inUse);
});

test("a full disk does not prevent a lock, in a used or a new folder", async (context) => {
  const disk = await smallDisk();
  if (disk === undefined) return context.skip("needs the right to mount a file system");
  context.after(() => disk.remove());
  const used = path.join(disk.folder, "used");
  const fresh = path.join(disk.folder, "fresh");
  await (await lock(used)).release();
  await disk.fill();

  for (const folder of [used, fresh]) {
    const held = await lock(folder);
    assert.match(await lockProcess(context, folder).says(), /^FOLDER_IN_USE /);
    await held.release();
  }
});

test("a folder below a new one is made, private as that one", async (context) => {
  const folder = await tempFolder(context);

  const held = await lock(path.join(folder, "new", "..", "new", "below"));
  context.after(() => held.release());

  for (const made of ["new", "new/below"]) assert.equal((await stat(path.join(folder, made))).mode & 0o777, 0o700);
});

const unusable = [
  { where: "in /proc, where none can be made", at: () => "/proc/deneb-test", skip: process.platform !== "linux" },
  { where: "below one in /proc", at: () => "/proc/deneb-test/below", skip: process.platform !== "linux" },
  { where: "in the place of a file", at: (folder: string) => path.join(folder, "file"), skip: false },
  { where: "below a file", at: (folder: string) => path.join(folder, "file", "below"), skip: false },
  { where: "in the place of a dangling link", at: (folder: string) => path.join(folder, "link"), skip: false },
  { where: "below a dangling link", at: (folder: string) => path.join(folder, "link", "below"), skip: false },
];

for (const { where, at, skip } of unusable)
  test(`a folder ${where} is an error that names it`, { skip }, async (context) => {
    const folder = await tempFolder(context);
    await writeFile(path.join(folder, "file"), "");
    await symlink("/nowhere/deneb-test", path.join(folder, "link"));

    await assert.rejects(lock(at(folder)), (error: Error) => {
      assert.equal(codeOf(error), "FOLDER_UNUSABLE");
      assert.ok(error.message.includes(`"${at(folder)}"`));
      return true;
    });
  });

test("a read-only file system is an error with the reason", async (context) => {
  const disk = await smallDisk();
  if (disk === undefined) return context.skip("needs the right to mount a file system");
  context.after(() => disk.remove());
  const used = path.join(disk.folder, "used");
  const fresh = path.join(disk.folder, "fresh");
  await (await lock(used)).release();
  await mkdir(fresh);
  await run("mount", ["-o", "remount,ro", disk.folder]);

  for (const folder of [used, fresh])
    await assert.rejects(lock(folder), (error: Error) => {
      assert.equal(codeOf(error), "FOLDER_UNUSABLE");
      assert.match(
        error.message,
        /deneb\.lock" \(is the folder writable for this user, and its file system not read-only/,
      );
      return true;
    });
});

for (const used of [false, true])
  test(`a ${used ? "used" : "new"} folder for which the process may open too few files is an error that says so`, async (context) => {
    const folder = path.join(await tempFolder(context), "data");
    await mkdir(folder);
    if (used) await (await lock(folder)).release();
    const under = ["/bin/sh", "-c", 'ulimit -n 256; exec "$0" "$@"'];

    const said = await lockProcess(context, folder, { under, opensAll: true }).says();

    assert.match(said, /^FOLDER_UNUSABLE creating the lock file ".*\(raise the limit of open files \(ulimit -Hn, /);
  });

test("a folder that was used by another user is an error that names that one and this one", {
  skip: process.geteuid?.() === 0 ? false : "needs root",
}, async (context) => {
  const folder = await tempFolder(context);
  await (await lock(folder)).release();
  // As an orchestrator mounts a volume for a container with a user of its own.
  await chmod(folder, 0o777);
  const under = ["/usr/bin/setpriv", "--reuid", "12345", "--clear-groups"];

  const said = await lockProcess(context, folder, { under }).says();

  assert.match(said, /^FOLDER_UNUSABLE .*it belongs to user 0; run as that user, or give .* to user 12345\)/);
});

test("a file system without inodes is an error that says what to free, and the folder is locked when there are some", async (context) => {
  const disk = await smallDisk();
  if (disk === undefined) return context.skip("needs the right to mount a file system");
  context.after(() => disk.remove());
  const folder = path.join(disk.folder, "fresh");
  await mkdir(folder);
  await run("mount", ["-o", "remount,nr_inodes=3", disk.folder]);
  const last = path.join(disk.folder, "last");
  await writeFile(last, "");

  await assert.rejects(lock(folder), (error: Error) => {
    assert.equal(codeOf(error), "FOLDER_UNUSABLE");
    assert.ok(error.message.includes(`"${path.join(folder, "deneb.lock")}" (free space, or inodes, there)`));
    return true;
  });
  await run("mount", ["-o", "remount,nr_inodes=10", disk.folder]);
  await (await lock(folder)).release();
});

/** A library that makes every request for a lock fail, as some network file systems do. */
async function withoutLocks(context: TestContext, reason: string): Promise<string | undefined> {
  const folder = await tempFolder(context);
  const source = path.join(folder, "no-locks.c");
  const library = path.join(folder, "no-locks.so");
  await writeFile(source, NO_LOCKS);
  const build = run("cc", ["-shared", "-fPIC", `-DREASON=${reason}`, "-o", library, source]);
  return await build.then(
    () => library,
    () => undefined,
  );
}

const NO_LOCKS = `#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>
static int call(int fd, int command, void *argument) {
  if (command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK) { errno = REASON; return -1; }
  return syscall(SYS_fcntl, fd, command, argument);
}
int fcntl(int fd, int command, ...) { va_list a; va_start(a, command); void *p = va_arg(a, void *); va_end(a); return call(fd, command, p); }
int fcntl64(int fd, int command, ...) { va_list a; va_start(a, command); void *p = va_arg(a, void *); va_end(a); return call(fd, command, p); }
`;

for (const reason of ["ENOLCK", "EOPNOTSUPP", "ENOSYS", "EINVAL"])
  test(`a file system without locks (${reason}) is an error that says so`, async (context) => {
    const library = await withoutLocks(context, reason);
    if (library === undefined) return context.skip("needs a C compiler");
    const folder = await tempFolder(context);

    const said = await lockProcess(context, folder, { env: { LD_PRELOAD: library } }).says();

    assert.match(said, /^FOLDER_NOT_LOCKABLE .*its file system does not lock files/);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name.includes("probe")),
      [],
    );
  });

test("a lock file with content is refused and unchanged", async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "deneb.lock");
  const text = "somebody's notes, longer than the header of a database\n".repeat(20);
  await writeFile(file, text);

  await assert.rejects(lock(folder), (error) => codeOf(error) === "FOLDER_NOT_LOCKABLE");

  assert.equal(await readFile(file, "utf8"), text);
});

test("the note next to the lock has no effect, and its control characters are not shown", async (context) => {
  const folder = await tempFolder(context);
  await writeFile(path.join(folder, "deneb.lock.txt"), "pid 1 on host other");
  const other = lockProcess(context, folder);
  assert.equal(await other.says(), "locked");
  await writeFile(path.join(folder, "deneb.lock.txt"), `\u001b[2J${"x".repeat(100_000)}`);

  await assert.rejects(lock(folder), (error: Error) => {
    assert.doesNotMatch(error.message, /[^\x20-\x7e]/);
    return inUse(error) && error.message.length < 600;
  });
});

test("folder and files are accessible to their owner only, whatever the umask and earlier versions left", async (context) => {
  const folder = path.join(await tempFolder(context), "data");
  const before = process.umask(0);
  context.after(() => process.umask(before));
  await mkdir(folder);
  await writeFile(path.join(folder, "ours"), "");
  // As in the root of a file system.
  await mkdir(path.join(folder, "lost+found"), { mode: 0o700 });
  const { log, lines } = recordingLog();

  const held = await lockFolder(folder, { owns: (name) => name === "ours" }, { seconds: 0, log });

  const names = ["", "ours", "deneb.lock", "deneb.lock.txt"] as const;
  const modes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).mode & 0o777));
  assert.deepEqual(modes, [0o700, 0o600, 0o600, 0o600]);
  assert.deepEqual(lines, []);
  await held.release();
});

test("a folder with other files keeps its permissions with a warning, and the files of the agent become private", async (context) => {
  const folder = path.join(await tempFolder(context), "data");
  await mkdir(folder);
  await chmod(folder, 0o755);
  for (const name of ["ours", "theirs"]) {
    await writeFile(path.join(folder, name), "");
    await chmod(path.join(folder, name), 0o644);
  }
  const { log, lines } = recordingLog();

  const held = await lockFolder(folder, { owns: (name) => name === "ours" }, { seconds: 0, log });

  const names = ["", "ours", "theirs"] as const;
  const modes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).mode & 0o777));
  assert.deepEqual(modes, [0o755, 0o600, 0o644]);
  assert.deepEqual(lines, [
    {
      level: "warn",
      fields: { path: folder, reason: 'the folder also holds other files, such as "theirs"' },
      message: "other users may read it",
    },
  ]);
  await held.release();
});
