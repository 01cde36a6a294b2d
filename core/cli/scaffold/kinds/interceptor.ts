import { declarationText, type KindTexts, type NamedTexts, plainConformance, schemaText } from "./kind-texts.js";

/** An interceptor that drops entities of some types and marks the others. */
export const interceptorTexts: KindTexts = (names): NamedTexts => {
  const { id, typeId, type, file } = names;
  return {
    does: "drops entities of some types and adds a header to the events of all others.",
    example: [
      "agent.sources.http-source.interceptors = i1",
      `agent.sources.http-source.interceptors.i1.type = ${type}`,
      "agent.sources.http-source.interceptors.i1.skip_types = Debug, Test",
    ],
    guarantees: ["An event is never changed: another one takes its place.", "What it drops is not stored anywhere."],
    sources: {
      index: declarationText(names, {
        kind: "interceptor",
        summary: "Drops entities of some types and marks the others.",
        create: id,
      }),
      config: schemaText(names, [
        'skip_types: { doc: "Types of entities that are dropped.", format: "words", default: [] },',
        'mark: { doc: "Text of the header `seen-by` of all others.", format: "text", default: "deneb" },',
      ]),
      [file]: `import { isEntity } from "deneb/ngsi";
«import type { Interceptor } from "deneb/sdk";
import type { ${typeId}Config } from "./config.js";
»
/** Drops entities of some types and marks the others. */
export function ${id}({ skip_types, mark }«: ${typeId}Config»)«: Interceptor» {
  const skipped = new Set(skip_types);
  return {
    intercept(event) {
      if (isEntity(event.body) && skipped.has(event.body.type)) return undefined;
      return { headers: { ...event.headers, "seen-by": mark }, body: event.body };
    },
  };
}
`,
      conformance: plainConformance,
    },
    agentTest: `import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleNotifications, testAgent } from "deneb/sdk/testing";
import plugin from "./index.js";

for (const { skipped, kept } of [
  { skipped: "Car", kept: 2 },
  { skipped: "Room", kept: 0 },
])
  test(\`of two rooms \${kept} are kept when \${skipped} is dropped\`, async (context) => {
    const interceptors = { mine: { type: "${type}", skip_types: skipped, mark: "here" } };
    const agent = await testAgent({ plugins: [plugin], config: { sources: { in: { interceptors } } } });
    context.after(() => agent.stop());

    await agent.inject(sampleNotifications.ld);
    await agent.settled();

    assert.equal(agent.kept().length, kept);
    for (const { headers } of agent.kept()) assert.equal(headers["seen-by"], "here");
  });
`,
  };
};
