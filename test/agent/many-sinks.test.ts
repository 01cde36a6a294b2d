import assert from "node:assert/strict";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { tempFolder } from "../support/temp-folder.js";

const numbers = Array.from({ length: 12 }, (_, index) => index + 1);

function properties(folder: string): string {
  const sinks = numbers.map(
    (number) => `
deneb.channels.c${number}.type = memory
deneb.sinks.s${number}.type = rdb
deneb.sinks.s${number}.channel = c${number}
deneb.sinks.s${number}.rdb_dialect = sqlite
deneb.sinks.s${number}.rdb_folder = ${folder}
deneb.sinks.t${number}.type = rdb
deneb.sinks.t${number}.channel = shared
deneb.sinks.t${number}.rdb_dialect = sqlite
deneb.sinks.t${number}.rdb_folder = ${folder}`,
  );
  const names = (prefix: string) => numbers.map((number) => `${prefix}${number}`).join(" ");
  return `
deneb.sources = http-source
deneb.channels = shared ${names("c")}
deneb.sinks = ${names("s")} ${names("t")}
deneb.sinkgroups = g
deneb.sinkgroups.g.sinks = ${names("t")}
deneb.sinkgroups.g.processor.type = load_balance
deneb.sources.http-source.type = http
deneb.sources.http-source.channels = shared ${names("c")}
deneb.sources.http-source.bind = 127.0.0.1
deneb.sources.http-source.port = 0
deneb.sources.http-source.handler = ngsi
deneb.channels.shared.type = file
${sinks.join("")}`;
}

test("an agent with many sinks starts and stops without a warning of Node", async (context) => {
  const folder = await tempFolder(context);
  const agent = await startAgent(context, { properties: properties(folder), folder });

  const exitCode = await agent.end("SIGTERM");

  assert.equal(exitCode, 0);
  assert.deepEqual(agent.errors, []);
});
