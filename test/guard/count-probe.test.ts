import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { tempFolder } from "../support/temp-folder.js";

/** Works once a message has come and was answered by the probe, which listens first; then says so. */
const program = `
import { open, writeFile } from "node:fs/promises";
import { writeSync, openSync } from "node:fs";
const [folder] = process.argv.slice(2);
const keep = [];
setInterval(() => {}, 1000);
process.once("message", async () => {
  const handle = await open(folder + "/a", "w");
  await handle.write(Buffer.alloc(100), 10, 50, 0);
  await handle.datasync();
  await handle.close();
  writeSync(openSync(folder + "/b", "w"), "é");
  JSON.parse(JSON.stringify({ a: 1 }));
  for (let n = 0; n < 2000; n += 1) keep[n % 10] = Array.from({ length: 1000 }, (_, at) => at + 0.5);
  process.send("done");
});
process.send("ready");
`;

test("the probe counts writes to files, their bytes and syncs, JSON texts and allocated bytes of a process", async (context) => {
  const folder = await tempFolder(context);
  const script = path.join(folder, "program.mjs");
  await writeFile(script, program);
  const probe = fileURLToPath(new URL("./count-probe.js", import.meta.url));
  const child = fork(script, [folder], { execArgv: ["--expose-gc", "--import", probe] });
  context.after(() => child.kill("SIGKILL"));

  const messages: unknown[] = [];
  child.on("message", (message) => messages.push(message));
  while (!messages.includes("ready")) await once(child, "message");
  child.send("counts");
  while (!messages.includes("done")) await once(child, "message");
  child.send("counts");
  while (messages.length < 4) await once(child, "message");

  const { allocatedBytes, ...counts } = Object(messages[3]);
  assert.deepEqual(counts, { fileWrites: 2, fileBytes: 52, fileSyncs: 1, jsonTexts: 2, jsonCharacters: 14 });
  // 2,000 lists of 1,000 numbers of eight bytes, which grow as they are made; only ten of them stay.
  assert.equal(allocatedBytes > 16e6 && allocatedBytes < 80e6, true, String(allocatedBytes));
});
