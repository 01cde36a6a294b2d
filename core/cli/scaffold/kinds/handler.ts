import { declarationText, type KindTexts, type NamedTexts, schemaText } from "./kind-texts.js";

/** A handler for lines of readings. */
export const handlerTexts: KindTexts = (names): NamedTexts => {
  const { id, typeId, type, file } = names;
  return {
    does: "reads lines such as `Room1;temperature;21.5` and makes an event of each, which every sink can store.",
    example: [
      `agent.sources.http-source.handler = ${type}`,
      "agent.sources.http-source.handler.entity_type = Sensor",
      "agent.sources.http-source.handler.service = openiot",
    ],
    guarantees: [
      "A request with a line that cannot be read is refused as a whole with status 400.",
      "The same request makes the same events.",
    ],
    sources: {
      index: declarationText(names, { kind: "handler", summary: "Reads lines of readings.", create: id }),
      config: schemaText(names, [
        'entity_type: { doc: "Type of the entities.", format: "text", default: "Sensor" },',
        'service: { doc: "Service of the events where the request names none.", format: "text", default: "default" },',
      ]),
      [file]: `import { decode, eventHeaders } from "deneb/ngsi";
import { «type Handler, »RejectedRequest } from "deneb/sdk";
«import type { ${typeId}Config } from "./config.js";
»
/** Makes an event of each line: id, name of the attribute and number, with semicolons between them. */
export function ${id}({ entity_type, service: usual }«: ${typeId}Config»)«: Handler» {
  return {
    decode({ body, headers, receivedAt }) {
      const service = headers[eventHeaders.service] ?? usual;
      const text = new TextDecoder().decode(body);
      const lines = text.split("\\n").filter((line) => line.trim() !== "");
      if (lines.length === 0) throw refused("the request has no lines");
      const data = lines.map((line) => entityOf(line, entity_type));
      const notification = JSON.stringify({ id: "urn:ngsi-ld:Notification:1", type: "Notification", data });
      const common = {
        [eventHeaders.service]: service,
        [eventHeaders.servicePath]: "/",
        [eventHeaders.timestamp]: String(receivedAt.getTime()),
      };
      const events = decode("ld", notification, {}).entities.map((entity) => ({ headers: common, body: entity }));
      return { events, service, servicePath: "/" };
    },
  };
}

function entityOf(line«: string», type«: string»)«: object» {
  const [, id = "", name = "", number = ""] = /^([^;\\s]+);(\\w+);(-?\\d+(?:\\.\\d+)?)$/.exec(line.trim()) ?? [];
  if (id === "") throw refused(\`the line "\${line.slice(0, 100)}" is not id;name;number\`);
  return { id, type, [name]: { type: "Property", value: Number(number) } };
}

function refused(reason«: string»)«: RejectedRequest» {
  return new RejectedRequest(400, reason, {}, undefined, "not-readings");
}
`,
      conformance: `«import type { PluginSetup } from "deneb/sdk/testing";

»/** How the conformance suites test this plugin; \`deneb plugin test\` reads it, too. */
export const setup«: PluginSetup» = { accepted: [{ body: "Room1;temperature;21.5\\nRoom2;temperature;19" }] };
`,
    },
    agentTest: `import assert from "node:assert/strict";
import { test } from "node:test";
import { testAgent } from "deneb/sdk/testing";
import plugin from "./index.js";

const config = { sources: { in: { handler: { type: "${type}", entity_type: "Room" } } } };

test("each line is an event", async (context) => {
  const agent = await testAgent({ plugins: [plugin], config });
  context.after(() => agent.stop());

  const { status } = await agent.inject({ body: "Room1;temperature;21.5\\nRoom2;temperature;19\\n" });
  await agent.settled();

  assert.equal(status, 200);
  assert.equal(agent.kept().length, 2);
});

test("a line that cannot be read refuses the request", async (context) => {
  const agent = await testAgent({ plugins: [plugin], config });
  context.after(() => agent.stop());

  const { status, reason } = await agent.inject({ body: "Room1;temperature;21.5\\nRoom2 is warm\\n" });

  assert.equal(status, 400);
  assert.match(reason ?? "", /"Room2 is warm" is not id;name;number/);
  assert.deepEqual(agent.kept(), []);
});
`,
  };
};
