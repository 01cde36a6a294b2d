import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";
import { type AgentProcess, startAgent } from "../support/agent-process.js";
import { numberedRoom, postEntities } from "../support/post-entities.js";
import { tempFolder } from "../support/temp-folder.js";
import { until } from "../support/until.js";

const MESSAGE = "events wait in a channel that nobody takes from";
const away = "rdb\na.sinks.k.rdb_host = 127.0.0.1\na.sinks.k.rdb_port = 1";

function properties(channel: string, type: string, sink: string): string {
  return `
a.sources = http-source
a.channels = ${channel}
a.sinks = k
a.sources.http-source.type = http
a.sources.http-source.port = 0
a.sources.http-source.bind = 127.0.0.1
a.sources.http-source.channels = ${channel}
a.sources.http-source.handler = ngsi
a.channels.${channel}.type = ${type}
a.sinks.k.channel = ${channel}
a.sinks.k.type = ${sink}
`;
}

async function post(agent: AgentProcess, number: number): Promise<void> {
  await postEntities(agent, [numberedRoom(number)], "left");
}

const cases = [
  { says: "has another name", channel: "other", type: "file" },
  { says: "forgets now", channel: "c", type: "memory" },
] as const;

for (const { says, channel, type } of cases)
  test(`a start over waiting events whose channel ${says} warns of them, and they are stored when it is back`, async (context) => {
    const folder = await tempFolder(context);
    const first = await startAgent(context, { folder, properties: properties("c", "file", away) });
    await post(first, 1);
    await post(first, 2);
    await first.end("SIGTERM");

    const changed = await startAgent(context, { folder, properties: properties(channel, type, "logger") });
    await changed.end("SIGTERM");
    const back = await startAgent(context, { folder, properties: properties("c", "file", "logger") });
    await until(
      async () => (await fetch(`${back.managementUrl}/v1/stats`)).text(),
      (text) => text.includes('"num_persisted_events":2'),
    );
    await back.end("SIGTERM");

    const told = changed.lines.filter(({ msg }) => msg === MESSAGE);
    assert.deepEqual(
      told.map(({ level, channel: name, events, folder: of }) => ({ level, name, events, of })),
      [{ level: "warn", name: "c", events: 2, of: path.join(folder, "data", "channels", "c") }],
    );
    assert.deepEqual(
      [...first.lines, ...back.lines].filter(({ msg }) => msg === MESSAGE),
      [],
    );
  });
