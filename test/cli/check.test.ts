import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { check } from "../../core/cli/check.js";
import { exitCodes } from "../../core/cli/command.js";
import { recordingTerminal } from "../support/recording-terminal.js";
import { tempFolder } from "../support/temp-folder.js";

const file = `
a.sources = s
a.channels = c
a.sinks = l
a.sources.s.type = org.apache.flume.source.http.HTTPSource
a.sources.s.port = 5050
a.sources.s.channels = c
a.sources.s.handler = ngsi
a.channels.c.type = memory
a.sinks.l.type = logger
a.sinks.l.channel = c
`.trim();

const cases = [
  {
    what: "an old spelling is reported and fails no check",
    text: file,
    code: exitCodes.success,
    says: "notice: line 4: ",
  },
  {
    what: "a warning is reported and fails no check",
    text: `${file}\na.sinks.l.odd = 1`,
    code: exitCodes.success,
    says: "warning: line 11: ",
  },
] as const;
for (const { what, text, code, says } of cases) {
  test(what, async (context) => {
    const config = path.join(await tempFolder(context), "agent.properties");
    await writeFile(config, text);
    const { terminal, err } = recordingTerminal();

    assert.equal(await check({ config }, terminal), code);
    assert.ok(err.some((line) => line.startsWith(says)));
  });
}
