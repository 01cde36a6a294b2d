import assert from "node:assert/strict";
import { chmod, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { examiner } from "../../../core/agent/examination/examiner.js";
import type { FolderUse } from "../../../core/sdk/index.js";
import { lockProcess } from "../../files/lock-process.js";
import { selfSigned } from "../../support/certificates.js";
import { tempFolder } from "../../support/temp-folder.js";

const { signal } = new AbortController();
const by = (now = "2026-01-01") => examiner({ now: () => new Date(now) });
const tryFolder = async (folder: string, use?: FolderUse) => await by().folder(folder, use).run(signal);

test("a folder that is there is written to, and nothing is left in it", async (context) => {
  const folder = await tempFolder(context);

  const { outcome, reason } = await tryFolder(folder, { locked: true });

  assert.equal(outcome, "ok");
  assert.match(reason ?? "", /^mode 0700, [\d.e+]+ \wiB free$/);
  assert.deepEqual(await readdir(folder), []);
});

test("a folder that is not there yet is not made, and says where it will be", async (context) => {
  const folder = await tempFolder(context);

  const { outcome, reason } = await tryFolder(path.join(folder, "a", "b"));

  assert.equal(outcome, "ok");
  assert.ok(reason?.startsWith(`will be made in "${folder}", `), reason);
  assert.deepEqual(await readdir(folder), []);
});

const unusable = [
  {
    what: "a file in its place",
    make: async (at: string) => await writeFile(at, ""),
    says: /is not a folder; give another folder, or move it away$/,
  },
  {
    what: "a file in the way to it",
    make: async (at: string) => await writeFile(path.dirname(at), ""),
    says: /is not a folder; give another folder, or move it away$/,
  },
  {
    what: "a link that leads nowhere",
    make: async (at: string) => {
      await mkdir(path.dirname(at));
      await symlink("nowhere", at);
    },
    says: /leads nowhere \(ENOENT\); correct the link, or give another folder$/,
  },
] as const;

for (const { what, make, says } of unusable)
  test(`a folder is not usable with ${what}`, async (context) => {
    const at = path.join(await tempFolder(context), "way", "to");
    if (what === "a file in its place") await mkdir(path.dirname(at));
    await make(at);

    await assert.rejects(tryFolder(at), { message: says });
  });

test("a folder without the right to write is a failure", {
  skip: process.getuid?.() === 0 ? "root may write everywhere" : false,
}, async (context) => {
  const folder = await tempFolder(context);
  await chmod(folder, 0o500);

  await assert.rejects(tryFolder(folder), { message: /fails \(EACCES\); give this user the right to write there/ });
});

test("a folder that another process holds names it, and a file is not written there", async (context) => {
  const folder = await tempFolder(context);
  const other = lockProcess(context, folder);
  assert.equal(await other.says(), "locked");

  const held = await tryFolder(folder, { locked: true });
  const shared = await tryFolder(folder);
  await other.kill();
  const free = await tryFolder(folder, { locked: true });

  assert.equal(held.outcome, "failed");
  assert.ok(held.reason?.startsWith(`another process holds it (pid ${other.process.pid} on host `), held.reason);
  assert.deepEqual([shared.outcome, free.outcome], ["ok", "ok"]);
});

test("less room than the component may need is a warning; what it holds already counts", async (context) => {
  const folder = await tempFolder(context);
  const most = 2 ** 60;

  const { outcome, reason } = await tryFolder(folder, { mostBytes: most });

  assert.equal(outcome, "warning");
  assert.match(reason ?? "", /free; it may need [\d.e+]+ TiB more$/);
});

test("a port in use is a failure with what to do, and a free one is free afterwards", async (context) => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.on("listening", resolve));
  const address = server.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const listen = by().port(port, "127.0.0.1");

  await assert.rejects(listen.run(signal), {
    message: "another program listens there; stop that program, or choose another port",
  });
  await new Promise((resolve) => server.close(resolve));
  assert.deepEqual(await listen.run(signal), { outcome: "ok" });
  const again = createServer().listen(port, "127.0.0.1");
  context.after(() => again.close());
  await new Promise((resolve) => again.on("listening", resolve));
});

const days = [
  { now: "2026-01-01", outcome: "ok" },
  { now: "2119-12-20", outcome: "warning" },
  { now: "2120-01-02", outcome: "failed" },
  { now: "2019-12-31", outcome: "failed" },
] as const;

for (const { now, outcome } of days)
  test(`a certificate of 2020 to 2120 is, at ${now}: ${outcome}`, (_context: TestContext) => {
    const { cert } = selfSigned("localhost");

    assert.equal(by(now).certificate(cert).outcome, outcome);
  });
