import { declarationText, type KindTexts, type NamedTexts, plainConformance, schemaText } from "./kind-texts.js";

/** A sink processor that stays with the sink that works. */
export const sinkProcessorTexts: KindTexts = (names): NamedTexts => {
  const { typeId, type, file } = names;
  return {
    does: "stays with the sink of a group that stored the last batch, and takes the next one when it fails.",
    example: [
      "agent.sinkgroups = g",
      "agent.sinkgroups.g.sinks = s1 s2",
      `agent.sinkgroups.g.processor.type = ${type}`,
      "agent.sinkgroups.g.processor.failures = 3",
    ],
    guarantees: [
      "Every batch is offered to every sink of the group until one stores it.",
      "After a restart it begins with the first sink of the group.",
    ],
    sources: {
      index: declarationText(names, {
        kind: "sink-processor",
        summary: "Stays with the sink of a group that works.",
        create: `(config) => new ${typeId}(config)`,
      }),
      config: schemaText(names, [
        'failures: { doc: "Failures in a row after which another sink is preferred.", format: "count", default: 1, min: 1 },',
      ]),
      [file]: `«import type { SinkProcessor } from "deneb/sdk";
import type { ${typeId}Config } from "./config.js";

»/** Stays with the sink that stored the last batch. */
export class ${typeId}« implements SinkProcessor» {
  «readonly »#limit«: number»;
  #preferred = "";
  #failures = 0;

  constructor({ failures }«: ${typeId}Config») {
    this.#limit = failures;
  }

  order(sinks«: readonly string[]»)«: readonly string[]» {
    return sinks.toSorted((a, b) => Number(b === this.#preferred) - Number(a === this.#preferred));
  }

  succeeded(sink«: string»)«: void» {
    const isOver = this.#preferred === "" || this.#failures >= this.#limit;
    if (sink !== this.#preferred && !isOver) return;
    this.#preferred = sink;
    this.#failures = 0;
  }

  failed(sink«: string»)«: void» {
    if (sink === this.#preferred) this.#failures += 1;
  }
}
`,
      conformance: plainConformance,
    },
    agentTest: `import assert from "node:assert/strict";
import { test } from "node:test";
import { definePlugin } from "deneb/sdk";
import { sampleNotifications, testAgent } from "deneb/sdk/testing";
import plugin from "./index.js";

const broken = definePlugin({
  kind: "sink",
  type: "broken",
  summary: "Stores nothing.",
  stability: "stable",
  config: {},
  create: () => ({
    start: async () => {},
    stop: async () => {},
    persist: () => Promise.reject(new Error("this sink is broken")),
  }),
});

test("the second sink stores what the first one cannot", async (context) => {
  const agent = await testAgent({
    plugins: [plugin, broken],
    config: {
      sinks: { first: { type: "broken" }, second: { type: "keep" } },
      sinkgroups: { group: { sinks: ["first", "second"], processor: { type: "${type}" } } },
    },
  });
  context.after(() => agent.stop());

  for (const notification of Object.values(sampleNotifications)) await agent.inject(notification);
  await agent.settled();

  assert.equal(agent.kept("second").length, 3);
});
`,
  };
};
