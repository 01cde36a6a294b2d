import { declarationText, type KindTexts, type NamedTexts, plainConformance, schemaText } from "./kind-texts.js";

/** A selector that spreads entities over channels by their id. */
export const selectorTexts: KindTexts = (names): NamedTexts => {
  const { id, typeId, type, file } = names;
  return {
    does: "spreads entities over the channels of a source; all events of an entity go into the same channel.",
    example: [
      "agent.sources.http-source.channels = c1 c2 c3",
      `agent.sources.http-source.selector.type = ${type}`,
      "agent.sources.http-source.selector.spread_by = id",
    ],
    guarantees: [
      "Each event goes into one channel; events of one entity stay in order.",
      "Another number of channels gives most entities another channel.",
    ],
    sources: {
      index: declarationText(names, {
        kind: "selector",
        summary: "Spreads entities over the channels of a source.",
        create: id,
      }),
      config: schemaText(names, [
        'spread_by: { doc: "What decides: the id of an entity, or its type.", format: ["id", "type"], default: "id" },',
      ]),
      [file]: `import { createHash } from "node:crypto";
import { isEntity } from "deneb/ngsi";
«import type { ChannelSelector, Event, SelectorContext } from "deneb/sdk";
import type { ${typeId}Config } from "./config.js";
»
/** Spreads entities over channels. */
export function ${id}({ spread_by }«: ${typeId}Config», { channels }«: SelectorContext»)«: ChannelSelector» {
  const selections = channels.map((channel) => ({ required: [channel], optional: [] }));
  return {
    select(event) {
      return selections[numberOf(event, spread_by) % selections.length] ?? { required: [...channels], optional: [] };
    },
  };
}

/** The same number for the same text; 0 for what is no entity. */
function numberOf({ body }«: Event», member«: "id" | "type"»)«: number» {
  if (!isEntity(body)) return 0;
  return createHash("sha256").update(body[member]).digest().readUInt32BE();
}
`,
      conformance: plainConformance,
    },
    agentTest: `import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleNotifications, testAgent } from "deneb/sdk/testing";
import plugin from "./index.js";

test("entities of one type go into one channel", async (context) => {
  const agent = await testAgent({
    plugins: [plugin],
    config: {
      sources: { in: { selector: { type: "${type}", spread_by: "type" } } },
      channels: { one: { type: "memory" }, two: { type: "memory" } },
    },
  });
  context.after(() => agent.stop());

  for (const notification of Object.values(sampleNotifications)) await agent.inject(notification);
  await agent.settled();

  assert.deepEqual([agent.kept("one").length, agent.kept("two").length].sort(), [0, 3]);
});
`,
  };
};
