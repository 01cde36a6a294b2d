import assert from "node:assert/strict";
import { readdir, readFile, readlink } from "node:fs/promises";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { loggingAgent } from "../support/logging-agent.js";
import { tempFolder } from "../support/temp-folder.js";

test("SIGUSR1 opens no debugger: the agent listens on no further port and goes on", {
  skip: process.platform !== "linux" && "the ports of a process are read from /proc",
}, async (context) => {
  const agent = await startAgent(context, { properties: loggingAgent, folder: await tempFolder(context) });
  const { pid = 0 } = agent.process;
  const before = await portsOf(pid);

  for (let signals = 0; signals < 3; signals += 1) {
    agent.process.kill("SIGUSR1");
    // An answer comes after the signal was handled.
    assert.equal((await fetch(`${agent.managementUrl}/v1/version`)).status, 200);
  }

  assert.equal(before.length, 2);
  assert.deepEqual(await portsOf(pid), before);
  assert.deepEqual(agent.errors, []);
  assert.equal(await agent.end("SIGTERM"), 0);
});

/** The TCP ports that a process listens on. */
async function portsOf(pid: number): Promise<readonly number[]> {
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all((await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => "")));
  const sockets = new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/${pid}/net/${name}`, "utf8")));
  const rows = tables.flatMap((table) => table.split("\n").slice(1)).map((row) => row.trim().split(/\s+/));
  const listening = rows.filter(([, , , state, , , , , , inode = ""]) => state === "0A" && sockets.has(inode));
  return listening
    .map(([, address = ""]) => Number.parseInt(address.split(":")[1] ?? "", 16))
    .toSorted((a, b) => a - b);
}
