import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { open, writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { freePort } from "../support/free-port.js";
import { loggingAgent } from "../support/logging-agent.js";
import { main } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const skip = process.platform === "linux" ? false : "no /dev/full";

test("an agent whose log and errors go to a full disk receives and stores", { skip }, async (context) => {
  const folder = await tempFolder(context);
  const file = path.join(folder, "agent.properties");
  const port = await freePort("127.0.0.1");
  await writeFile(file, loggingAgent.replace(".port = 0", `.port = ${port}`));
  const full = await open("/dev/full", "w");
  context.after(() => full.close());

  const flags = ["--config", file, "--data-dir", path.join(folder, "data"), "--management-port", "0"];
  const child = spawn(process.execPath, [main, "run", ...flags], { stdio: ["ignore", full.fd, full.fd] });
  context.after(() => child.kill("SIGKILL"));

  const refused = async () => {
    if (child.exitCode !== null) return child.exitCode;
    const sent = fetch(`http://127.0.0.1:${port}/notify`, { method: "POST", body: "{}" });
    return (await sent.catch(() => undefined))?.status;
  };
  assert.equal(await until(refused, (status) => status !== undefined), 400);
  assert.equal(await refused(), 400);
});
