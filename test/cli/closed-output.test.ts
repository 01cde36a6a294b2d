import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { loggingAgent } from "../support/logging-agent.js";
import { main } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

for (const output of ["stdout", "stderr"] as const)
  test(`a command whose ${output} is closed by its reader ends as if it were read`, async () => {
    const args = output === "stdout" ? ["check", "--help"] : ["check", "--no-such-option"];
    const child = spawn(process.execPath, [main, ...args]);
    child[output].destroy();
    const other = output === "stdout" ? child.stderr : child.stdout;
    let said = "";
    other.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });

    const [code] = await once(child, "close");

    assert.deepEqual([code, said], [output === "stdout" ? 0 : 2, ""]);
  });

const full = "/dev/full";
const without = existsSync(full) ? false : `there is no ${full} here`;
/** The program with one of its outputs on a disk without space. */
const withFull = (redirection: ">" | "2>", args: readonly string[]) =>
  spawn("sh", ["-c", `exec "$@" ${redirection} ${full}`, "sh", process.execPath, main, ...args]);

test("a command whose output does not fit on the disk says so in a sentence and fails", { skip: without }, async () => {
  const child = withFull(">", ["check", "--help"]);

  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);

  assert.equal(code, 1);
  assert.match(said, /^deneb: writing to the standard output failed: ENOSPC: .*\n$/);
});

test("an agent whose messages do not fit on the disk runs", { skip: without, timeout: 300_000 }, async (context) => {
  const folder = await tempFolder(context);
  const config = path.join(folder, "agent.properties");
  await writeFile(config, `${loggingAgent}a.sinks.k.odd = 1\n`);
  const options = ["--config", config, "--data-dir", path.join(folder, "data"), "--management-port", "0"];

  const child = withFull("2>", ["run", ...options]);
  context.after(() => child.kill("SIGKILL"));
  const closed = once(child, "close");
  let log = "";
  for await (const part of child.stdout) {
    log += part;
    if (log.includes('"msg":"ready"') && !child.killed) child.kill();
  }

  assert.match(log, /"msg":"agent stopped"/);
  assert.equal((await closed)[0], 0);
});
