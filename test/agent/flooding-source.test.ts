import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { startAgent } from "../support/agent-process.js";
import { tempFolder } from "../support/temp-folder.js";
import { writeFiles } from "../support/written-files.js";

/** Sources that no stop ends: what each does again and again, and how long its emits wait for room. */
const floods = [
  {
    does: "emits without awaiting it",
    loop: "const again = () => { for (let i = 0; i < 10; i += 1) emit([event]).catch(() => {}); setImmediate(again); }; again();",
    waits: 3,
  },
  {
    does: "emits again at once when it is refused",
    loop: "const again = async () => { for (;;) { try { await emit([event]); } catch {} } }; again();",
    waits: 0,
  },
  {
    does: "emits in a loop that awaits nothing",
    loop: "setImmediate(() => { for (;;) emit([event]).catch(() => {}); });",
    waits: 0,
  },
];

const source = (loop: string) => `import { definePlugin } from "deneb/sdk";
  const event = { headers: { "fiware-service": "s" }, body: { id: "Room1", type: "Room", attributes: [] } };
  export default definePlugin({ kind: "source", type: "flooding", summary: "Floods.", stability: "beta", config: {},
    create: (_, { emit }) => ({ start: async () => { ${loop} }, stop: async () => {} }) });`;

const sink = `import { once } from "node:events";
  import { definePlugin } from "deneb/sdk";
  export default definePlugin({ kind: "sink", type: "standing", summary: "Stands.", stability: "beta", config: {},
    create: () => ({ start: async () => {}, stop: async () => {},
      persist: async (_, signal) => { await once(signal, "abort"); throw signal.reason; } }) });`;

const properties = (waits: number) => `
a.sources = s
a.channels = c
a.sinks = k
a.sources.s.type = flooding
a.sources.s.channels = c
a.channels.c.type = memory
a.channels.c.capacity = 20
a.channels.c.transactionCapacity = 20
a.channels.c.keep-alive = ${waits}
a.sinks.k.type = standing
a.sinks.k.channel = c
`;

for (const { does, loop, waits } of floods)
  test(`an agent with a source that ${does}, before and after its stop, ends in order`, {
    timeout: 120_000,
  }, async (context) => {
    const folder = await tempFolder(context);
    const plugins = join(folder, "plugins");
    await writeFiles(plugins, { "source/index.js": source(loop), "sink/index.js": sink });
    const flags = ["--plugins", plugins, "--grace-period", "1"];
    const agent = await startAgent(context, { properties: properties(waits), folder, flags });

    const exitCode = await agent.end("SIGINT");

    const kept = agent.lines.find(({ msg }) =>
      String(msg).startsWith("events kept as dead letters: the agent stopped"),
    );
    assert.equal(exitCode, 0);
    assert.ok(Number(kept?.["events"]) >= 20, "what the channel held is kept");
  });
