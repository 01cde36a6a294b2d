import { setImmediate as delay } from "node:timers/promises";
import { lockFolder } from "../../core/files/folder-lock.js";
import { codeOf, reasonOf } from "../../core/sdk/index.js";

// Locks a folder, says how that ended in one line, and keeps the lock until it is killed.
const [folder = "", seconds = "0"] = process.argv.slice(2);
const say = (line: string) => process.stdout.write(`${line}\n`);
try {
  const log = { warn: () => say("waiting") };
  await lockFolder(folder, {}, { seconds: Number(seconds), log });
  await delay();
  globalThis.gc?.();
  await delay();
  say("locked");
  setInterval(() => {}, 2 ** 30);
} catch (error) {
  say(`${codeOf(error)} ${reasonOf(error)}`);
}
