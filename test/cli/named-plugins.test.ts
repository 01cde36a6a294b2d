import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { loggingAgent } from "../support/logging-agent.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

// An agent loads the plugins that its file names before it starts, the others after that.

async function topologyOf(managementUrl: string): Promise<string> {
  return await (await fetch(`${managementUrl}/v1/topology`)).text();
}

test("a reload takes types that the file did not name at the start", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: loggingAgent, folder });
  assert.match(await topologyOf(agent.managementUrl), /"memory"/);

  await writeFile(path.join(folder, "agent.properties"), loggingAgent.replace("c.type = memory", "c.type = file"));
  agent.process.kill("SIGHUP");

  const after = await until(
    () => topologyOf(agent.managementUrl),
    (text) => /"file"/.test(text),
  );
  assert.doesNotMatch(after, /unknown/);
});

const spellings = [
  { says: "an expression", type: "$" + "{env:TYPE_OF_CHANNEL}" },
  { says: "an escape", type: "\\u0066ile" },
  { says: "capitals", type: "FILE" },
  { says: "a class name of another package", type: "org.apache.flume.other.FileChannel" },
];

for (const { says, type } of spellings) {
  test(`a type that is written by ${says} is found at the start`, async (context) => {
    const folder = await tempFolder(context);
    const text = loggingAgent.replace("c.type = memory", `c.type = ${type}`);

    const agent = await startAgent(context, { properties: text, folder, env: { TYPE_OF_CHANNEL: "file" } });

    assert.match(await topologyOf(agent.managementUrl), /"file"/);
    assert.equal(await agent.end("SIGTERM"), 0);
  });
}

test("a misspelt type ends the start with the one that was meant, though nothing else names it", async (context) => {
  const file = path.join(await tempFolder(context), "agent.properties");
  await writeFile(file, loggingAgent.replace("c.type = memory", "c.type = jetstraem"));

  const { code, stderr } = await runCli(["run", "--config", file, "--data-dir", path.join(file, "..", "data")]);

  assert.notEqual(code, 0);
  assert.match(stderr, /jetstraem.*is no known type of channel.*jetstream/);
});

test("a variable of a plugin that the file does not name is no mistake", async (context) => {
  const folder = await tempFolder(context);

  const agent = await startAgent(context, {
    properties: loggingAgent,
    folder,
    env: { AGENT_KAFKA_PASS: "db", AGENT_KAFKA_PASSS: "1" },
  });

  const warned = agent.lines.filter(({ level, key }) => level === "warn" && String(key).startsWith("AGENT_"));
  assert.deepEqual(
    warned.map(({ key, nearest }) => [key, nearest]),
    [["AGENT_KAFKA_PASSS", "AGENT_KAFKA_PASS"]],
  );
});
