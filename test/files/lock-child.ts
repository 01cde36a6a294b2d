import { openSync } from "node:fs";
import { setImmediate as delay } from "node:timers/promises";
import { lockFolder } from "../../core/files/folder-lock.js";
import { codeOf, reasonOf } from "../../core/sdk/index.js";

// Locks a folder, says how that ended in one line, and keeps the lock until it is killed. With `opens-all` it has as many files open as it
// may when it does.
const [folder = "", seconds = "0", opensAll] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);
try {
  const log = { warn: () => say("waiting") };
  if (opensAll === "opens-all") {
    await lockFolder(`${folder}-first`, {}, { seconds: 0, log });
    openAll();
  }
  await lockFolder(folder, {}, { seconds: Number(seconds), log });
  await delay();
  globalThis.gc?.();
  await delay();
  say("locked");
  setInterval(() => {}, 2 ** 30);
} catch (error) {
  say(`${codeOf(error)} ${reasonOf(error)}`);
}

function openAll(): void {
  try {
    for (;;) openSync("/dev/null", "r");
  } catch (error) {
    if (codeOf(error) !== "EMFILE") throw error;
  }
}
