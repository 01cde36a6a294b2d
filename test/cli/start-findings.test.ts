import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { httpAgent } from "../support/http-agent.js";
import { runCli } from "../support/run-cli.js";
import { tempFolder } from "../support/temp-folder.js";

const unknown = "a.channels.c.capasity = 7";
const message = "fault in the configuration";

for (const workers of ["1", "2"])
  test(`warnings of the properties file are lines of the log of a start with workers = ${workers}, once`, async (context) => {
    const folder = await tempFolder(context);
    const properties = `${httpAgent({ channel: "file", sink: "logger" })}\n${unknown}\n`;

    const agent = await startAgent(context, { properties, folder, flags: ["--workers", workers] });

    const found = agent.lines.filter(({ msg }) => msg === message);
    assert.equal(found.length, 1);
    const [{ level, component, key, value, nearest, file, line } = {}] = found;
    assert.deepEqual([level, component, key, value], ["warn", "deneb", "a.channels.c.capasity", "7"]);
    assert.deepEqual([nearest, typeof file, typeof line], ["capacity", "string", "number"]);
    assert.deepEqual(agent.errors, []);
  });

test("an old name in the properties file is a notice of the log, and no fault", async (context) => {
  const folder = await tempFolder(context);
  const type = "a.channels.c.type = ";
  const properties = httpAgent({ channel: "memory", sink: "logger" }).replace(
    `${type}memory`,
    `${type}CygnusMemoryChannel`,
  );

  const agent = await startAgent(context, { properties, folder });

  const found = agent.lines.filter(({ key }) => key === "a.channels.c.type");
  assert.deepEqual(
    found.map(({ level, msg, reason }) => [level, msg, reason]),
    [["info", "notice about the configuration", 'is an old spelling; the new one is "memory"']],
  );
});

test("a start that ends before there is a log prints warnings and errors on standard error", async (context) => {
  const file = path.join(await tempFolder(context), "agent.properties");
  await writeFile(
    file,
    `${httpAgent({ channel: "file", sink: "logger" })}\n${unknown}\na.channels.c.capacity = many\n`,
  );

  const { code, stdout, stderr } = await runCli(["run", "--config", file], { DENEB_DATA_DIRR: "x" });

  assert.equal(code, 2);
  assert.equal(stdout, "");
  for (const text of [
    /^warning: line \d+: a\.channels\.c\.capasity = "7": /m,
    /^error: line \d+: .* = "many": /m,
    /^warning: DENEB_DATA_DIRR/m,
  ])
    assert.match(stderr, text);
});
