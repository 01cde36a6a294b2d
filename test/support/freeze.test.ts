import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { freeze } from "./freeze.js";

test("a frozen process stands still with all its threads", async (context) => {
  const child = spawn(process.execPath, ["-e", "console.log('up'); for (;;);"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  context.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");

  await freeze(child);

  const tasks = `/proc/${child.pid}/task`;
  const threads = await readdir(tasks).catch(() => undefined);
  if (threads === undefined) return context.skip("there is no /proc");
  assert.ok(threads.length > 1);
  for (const thread of threads) assert.match(await readFile(`${tasks}/${thread}/status`, "utf8"), /^State:\s+T/m);
});

test("a process that has ended is not frozen, and nobody waits for it", async () => {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  await freeze(child);
});
