import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeKeptFiles } from "./kept-files.js";
import { laterFiles } from "./later-files.js";

const properties = `
old.sources = in
old.channels = away refused
old.sinks = away refused
old.sources.in.type = http
old.sources.in.port = 0
old.sources.in.bind = 127.0.0.1
old.sources.in.channels = away
old.sources.in.handler = ngsi
old.channels.away.type = file
old.channels.refused.type = file
old.sinks.away.type = logger
old.sinks.away.channel = away
old.sinks.refused.type = logger
old.sinks.refused.channel = refused
`.trim();

async function scene(context: TestContext) {
  const folder = await tempFolder(context);
  const dataDir = path.join(folder, "data");
  await writeKeptFiles(dataDir);
  const config = path.join(folder, "agent.properties");
  await writeFile(config, properties);
  const flags = ["--config", config, "--data-dir", dataDir];
  return { dataDir, run: () => runCli(["run", ...flags, "--management-port", "0"]) };
}

for (const { name, file, version = 2, later } of laterFiles)
  test(`an agent does not start over ${name} of a later version, says which, and changes nothing of it`, async (context) => {
    const { dataDir, run } = await scene(context);
    const changed = path.join(dataDir, file);
    const content = later(await readFile(changed));
    await writeFile(changed, content);
    const events = path.join(dataDir, "channels/away/data/000000000000001.log");
    const waiting = await readFile(events);

    const { code, stdout, stderr } = await run();

    const said = `${stdout}${stderr}`.replaceAll('\\"', '"');
    assert.equal(code, 1, said);
    const versions = `it has version ${version} of its format, and this agent reads version ${version - 1}; `;
    assert.ok(said.includes(`"${changed}": ${versions}`), said);
    assert.match(said, /start (?:the later|that) version/);
    assert.deepEqual(await readFile(changed), content);
    assert.deepEqual(await readFile(events), waiting);
  });
