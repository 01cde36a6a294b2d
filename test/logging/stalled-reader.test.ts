import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { endingWithProcess } from "../support/ends-with-process.js";
import { freePort } from "../support/free-port.js";
import { httpAgent } from "../support/http-agent.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const main = fileURLToPath(new URL("../../core/main.js", import.meta.url));
const skip = process.platform === "linux" ? false : "needs Linux";

/** The command line of an agent, and where it is managed. */
async function agentIn(folder: string) {
  const file = path.join(folder, "agent.properties");
  await writeFile(file, httpAgent({ channel: "memory", sink: "logger" }));
  const port = await freePort("127.0.0.1");
  const flags = ["--config", file, "--data-dir", path.join(folder, "data"), "--management-port", `${port}`];
  const call = (resource: string, method = "GET") =>
    fetch(`http://127.0.0.1:${port}${resource}`, { method, signal: AbortSignal.timeout(10_000) }).then(
      (response) => response.status,
      () => 0,
    );
  const ready = () =>
    until(
      () => call("/ready"),
      (status) => status === 200,
    );
  return { words: [process.execPath, main, "run", ...flags], call, ready };
}

test("an agent whose log goes to a terminal that is held with Ctrl-S goes on and stops in order", {
  skip: skip || (spawnSync("script", ["--version"]).status === 0 ? false : "needs script of util-linux"),
}, async (context) => {
  const folder = await tempFolder(context);
  const { words, call, ready } = await agentIn(folder);
  const note = path.join(folder, "pid");
  const command = `echo $$ > '${note}'; exec ${words.map((word) => `'${word}'`).join(" ")} 2> /dev/null`;
  const terminal = endingWithProcess(
    spawn("script", ["-qec", command, "/dev/null"], { stdio: ["pipe", "pipe", "ignore"] }),
  );
  context.after(() => terminal.kill("SIGKILL"));
  terminal.stdout.resume();
  await ready();
  const pid = Number(readFileSync(note, "utf8"));
  context.after(() => spawnSync("kill", ["-KILL", `${pid}`]));

  terminal.stdin.write("\x13");
  const statuses = [
    await call("/v1/admin/reload", "POST"),
    await call("/v1/admin/reload", "POST"),
    await call("/live"),
  ];
  const ended = once(terminal, "exit", { signal: AbortSignal.timeout(25_000) });
  process.kill(pid, "SIGTERM");

  assert.deepEqual(statuses, [200, 200, 200]);
  assert.equal((await ended)[0], 0);
});
