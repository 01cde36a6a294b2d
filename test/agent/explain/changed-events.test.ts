import assert from "node:assert/strict";
import { test } from "node:test";
import { explain } from "../../../core/agent/explain/explain.js";
import { topologyOf } from "../../../core/embedded/embedded-agent.js";
import { sampleNotifications } from "../../../core/embedded/index.js";
import { catalogueWith, ownPlugins } from "../../../core/embedded/plugin-sets.js";
import { type AnyPlugin, definePlugin, type Event } from "../../../core/sdk/index.js";
import { systemClock } from "../../../core/tokens.js";
import { recordingLog } from "../../support/recording-log.js";

const declared = { type: "careless", summary: "Changes its events.", stability: "beta", config: {} } as const;

function changed(event: Event): Event {
  return Object.assign(event, { body: "changed" });
}

const properties = `
a.sources = s
a.channels = c
a.sinks = k
a.sources.s.type = http
a.sources.s.port = 5050
a.sources.s.channels = c
a.sources.s.handler = ngsi
a.channels.c.type = memory
a.sinks.k.channel = c
`;

async function explained(plugin: AnyPlugin, more: string) {
  const catalogue = catalogueWith(await ownPlugins(), [plugin]);
  const topology = topologyOf({ text: properties + more, catalogue, env: {}, readFile: () => "" });
  const { headers, body } = sampleNotifications.ld;
  const request = { method: "POST", path: "/notify", headers, receivedAt: new Date(0) };
  const parts = { loggers: { of: () => recordingLog().log }, clock: systemClock, dataDir: "" };
  return await explain(topology, () => ({ ...request, body: Buffer.from(body) }), parts);
}

test("what a sink changes while it explains an event is why it could not", async () => {
  const sink = definePlugin({
    ...declared,
    kind: "sink",
    create: () => assert.fail("nothing is created"),
    explain: async (_, event) => {
      changed(event);
      return { writes: [], statements: [], notes: [] };
    },
  });

  const [first] = await explained(sink, "a.sinks.k.type = careless");

  assert.match(first?.sinks[0]?.failure ?? "", /read only property 'body'/);
});

const sources = {
  interceptor: {
    plugin: definePlugin({ ...declared, kind: "interceptor", create: () => ({ intercept: changed }) }),
    more: "a.sources.s.interceptors = i\na.sources.s.interceptors.i.type = careless",
    code: "INTERCEPTOR_FAILED",
  },
  selector: {
    plugin: definePlugin({
      ...declared,
      kind: "selector",
      create: (_, { channels }) => ({
        select: (event) => {
          changed(event);
          return { required: channels, optional: [] };
        },
      }),
    }),
    more: "a.sources.s.selector.type = careless",
    code: "SELECTOR_FAILED",
  },
};

for (const [kind, { plugin, more, code }] of Object.entries(sources))
  test(`a request of which the ${kind} changes events is explained as refused, as it would be`, async () => {
    await assert.rejects(explained(plugin, `a.sinks.k.type = logger\n${more}`), { code });
  });
